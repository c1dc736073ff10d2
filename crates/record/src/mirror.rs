//! How wire structs mirror the model: each declared once, field by field, both ways following from it.
//!
//! The inner types derive no `Serialize`, so that renaming one of their fields cannot change a published file by accident:
//! `name_on_the_wire: Type = name_in_the_model` is where the two meet.

use crate::RecordError;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A wire type that stands for a type of the model.
pub(crate) trait Mirror<M>: Sized {
    /// On its way out.
    fn from_model(model: &M) -> Self;

    /// On its way back.
    ///
    /// # Errors
    /// [`RecordError::Contradiction`] where fields that exclude or need each other do not fit.
    fn into_model(self) -> Result<M, RecordError>;
}

macro_rules! plain {
    ($($wire:ty => $model:ty: $from:expr, $into:expr;)+) => {$(
        impl Mirror<$model> for $wire {
            fn from_model(model: &$model) -> Self {
                let from: fn(&$model) -> $wire = $from;
                from(model)
            }

            fn into_model(self) -> Result<$model, RecordError> {
                let into: fn($wire) -> $model = $into;
                Ok(into(self))
            }
        }
    )+};
}

plain! {
    String => String: String::clone, |text| text;
    bool => bool: |flag| *flag, |flag| flag;
    u8 => u8: |count| *count, |count| count;
    u32 => u32: |count| *count, |count| count;
    u64 => u64: |count| *count, |count| count;
    u64 => usize: |count| *count as u64, |count| count as usize;
    u64 => Bytes: |size| size.get(), Bytes;
    u64 => Nanos: |time| time.get(), Nanos;
    f64 => f64: |figure| *figure, |figure| figure;
    f64 => ByteRate: |rate| rate.get(), ByteRate;
}

impl<W: Mirror<M>, M> Mirror<Option<M>> for Option<W> {
    fn from_model(model: &Option<M>) -> Self {
        model.as_ref().map(W::from_model)
    }

    fn into_model(self) -> Result<Option<M>, RecordError> {
        self.map(W::into_model).transpose()
    }
}

impl<W: Mirror<M>, M> Mirror<Vec<M>> for Vec<W> {
    fn from_model(model: &Vec<M>) -> Self {
        model.iter().map(W::from_model).collect()
    }

    fn into_model(self) -> Result<Vec<M>, RecordError> {
        self.into_iter().map(W::into_model).collect()
    }
}

/// Structs of the format that mirror structs of the model.
macro_rules! mirror {
    ($(
        $(#[$doc:meta])*
        $name:ident of $model:ty {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $inner:ident,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $crate::mirror::Mirror<$model> for $name {
            fn from_model(model: &$model) -> Self {
                $name { $($field: $crate::mirror::Mirror::from_model(&model.$inner),)+ }
            }

            fn into_model(self) -> Result<$model, $crate::RecordError> {
                type Model = $model;
                Ok(Model { $($inner: $crate::mirror::Mirror::into_model(self.$field)?,)+ })
            }
        }
    )+};
}

/// The part of one kind of record: a struct of the format, and how it comes out of the record of the model and back.
macro_rules! part {
    (
        $(#[$doc:meta])*
        $name:ident of $model:ty as [$($kind:ident),+] {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $inner:ident,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $crate::Recorded for $model {
            type Part = $name;

            const KINDS: &'static [flashscope_model::Kind] = &[$(flashscope_model::Kind::$kind),+];

            fn envelope(&self) -> &flashscope_model::Envelope {
                &self.envelope
            }

            fn part(&self) -> $name {
                $name { $($field: $crate::mirror::Mirror::from_model(&self.$inner),)+ }
            }

            fn of(envelope: flashscope_model::Envelope, part: $name) -> Result<$model, $crate::RecordError> {
                type Model = $model;
                Ok(Model { envelope, $($inner: $crate::mirror::Mirror::into_model(part.$field)?,)+ })
            }
        }
    };
}

/// Structs of the format that mirror tuples of the model, field by field.
macro_rules! mirror_tuple {
    ($(
        $(#[$doc:meta])*
        $name:ident of $model:ty {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $crate::mirror::Mirror<$model> for $name {
            fn from_model(($($field,)+): &$model) -> Self {
                $name { $($field: $crate::mirror::Mirror::from_model($field),)+ }
            }

            fn into_model(self) -> Result<$model, $crate::RecordError> {
                Ok(($($crate::mirror::Mirror::into_model(self.$field)?,)+))
            }
        }
    )+};
}

/// An enum of the format that mirrors one of the model, word by word; words are in `snake_case`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident mirrors $model:ty { $($(#[$variant_doc:meta])* $variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl From<$model> for $name {
            fn from(word: $model) -> $name {
                match word {
                    $(<$model>::$variant => $name::$variant,)+
                }
            }
        }

        impl From<$name> for $model {
            fn from(word: $name) -> $model {
                match word {
                    $($name::$variant => <$model>::$variant,)+
                }
            }
        }

        impl $crate::mirror::Mirror<$model> for $name {
            fn from_model(model: &$model) -> Self {
                (*model).into()
            }

            fn into_model(self) -> Result<$model, $crate::RecordError> {
                Ok(self.into())
            }
        }
    };
}

pub(crate) use {mirror, mirror_tuple, part, words};
