//! What is answered where a page cannot be shown, in words that say what to do.

use crate::page::{self, Frame, Tab};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use flashscope_report::foreign;
use flashscope_store::StoreError;
use maud::{Markup, html as markup};

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) struct Oops {
    status: StatusCode,
    /// What is wrong, and behind `hint: ` what to do.
    said: String,
}

impl Oops {
    /// It does not exist.
    pub(crate) fn missing(said: impl Into<String>) -> Oops {
        Oops { status: StatusCode::NOT_FOUND, said: said.into() }
    }

    /// What was asked for makes no sense.
    pub(crate) fn asked(said: impl Into<String>) -> Oops {
        Oops { status: StatusCode::BAD_REQUEST, said: said.into() }
    }

    /// Not now.
    pub(crate) fn busy(said: impl Into<String>) -> Oops {
        Oops { status: StatusCode::TOO_MANY_REQUESTS, said: said.into() }
    }

    /// This program could not do it.
    pub(crate) fn failed(said: impl Into<String>) -> Oops {
        Oops { status: StatusCode::INTERNAL_SERVER_ERROR, said: said.into() }
    }
}

impl From<StoreError> for Oops {
    fn from(error: StoreError) -> Oops {
        match error {
            StoreError::NoRecord(_) | StoreError::Missing(_) => Oops::missing(error.to_string()),
            StoreError::NoTime(_) | StoreError::NotARecord(_) => Oops::asked(error.to_string()),
            error => Oops::failed(error.to_string()),
        }
    }
}

impl Oops {
    /// What is wrong and what to do, as markup.
    pub(crate) fn said(&self) -> Markup {
        // What was asked stands in it, to the letter.
        let said = foreign::page(&self.said);
        let (what, hint) = match said.split_once("\nhint: ") {
            Some((what, hint)) => (what, Some(hint)),
            None => (said.as_ref(), None),
        };
        markup! {
            p.callout role="alert" { strong { (what) } @if let Some(hint) = hint { br; (hint) } }
        }
    }
}

impl IntoResponse for Oops {
    fn into_response(self) -> Response {
        let frame = Frame { title: "This cannot be shown", here: Tab::None, live: false, refresh: false };
        (self.status, page::page(&frame, &self.said())).into_response()
    }
}
