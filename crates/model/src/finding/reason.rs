//! Why a figure is unknown, as a kind that programs can act on. The words are made where they are shown.

/// An enum whose words are part of the record's format: a new name for a variant leaves the word as it is.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: &[$name] = &[$($name::$variant),+];
            /// Their words in a record, in the same order.
            pub const WORDS: &[&str] = &[$($word),+];

            /// Its word in a record.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// The variant of a record's word.
            pub fn from_word(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use words;

words! {
    /// The kind of reason for which there is no answer.
    Reason {
        /// The experiment that would tell was not done.
        NotMeasured = "not_measured",
        /// Only writes tell, and none were made.
        NeedsWrites = "needs_writes",
        /// Another finding has to be known first.
        NeedsAnother = "needs_another_finding",
        /// Too few samples.
        TooFew = "too_few_samples",
        /// Requests scatter by more than what is looked for.
        TooNoisy = "too_noisy",
        /// Nothing stands out: there may be nothing, or it may not show.
        NothingShows = "nothing_shows",
        /// More than one explanation fits.
        Ambiguous = "ambiguous",
        /// What this experiment shows does not go together with other findings, or with its own repeats.
        Contradicted = "contradicted",
        /// There is no such thing on this device, so that it has no figure either.
        Absent = "absent",
        /// The version that wrote the record did not look for it.
        NotLookedFor = "not_looked_for",
        /// In the words of an older version only.
        InWords = "in_words",
    }
}
