//! The style sheet and the script, embedded: nothing is loaded from anywhere else.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// Rules of the bar, which stands on pages of reports as well.
pub(crate) const BAR: &str = include_str!("../assets/bar.css");
const PAGES: &str = include_str!("../assets/pages.css");
const LIVE: &str = include_str!("../assets/live.js");

/// The style sheet of reports, and what these pages have beside it.
pub(crate) async fn style() -> Response {
    let text = format!("{}{BAR}{PAGES}", flashscope_report::style_sheet());
    ([(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, KEPT)], text).into_response()
}

/// The script of pages that change by themselves.
pub(crate) async fn script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, KEPT)], LIVE).into_response()
}

/// Their addresses bear the version, so that another one is another address.
const KEPT: &str = "private, max-age=86400";
