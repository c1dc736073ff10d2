//! The frame of every page: bar, landmarks, and whether it is HTML or JSON that was asked for.

use crate::asset;
use crate::oops::Oops;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use serde_json::Value;
use std::convert::Infallible;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// A place in the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    /// Nowhere in it.
    None,
    Home,
    Records,
    Devices,
    Trends,
    Labs,
    Runs,
}

const TABS: [(Tab, &str, &str); 6] = [
    (Tab::Home, "/", "flashscope"),
    (Tab::Records, "/records", "Records"),
    (Tab::Devices, "/devices", "Devices"),
    (Tab::Trends, "/trends", "Trends"),
    (Tab::Labs, "/labs", "Labs"),
    (Tab::Runs, "/runs", "Simulated runs"),
];

/// What stands around a page.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) here: Tab,
    /// Whether it changes by itself where scripts run …
    pub(crate) live: bool,
    /// … and is loaded anew now and then where they do not.
    pub(crate) refresh: bool,
}

/// Which form of an answer was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Page,
    Json,
}

impl<S: Sync> FromRequestParts<S> for Form {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Form, Infallible> {
        Ok(if parts.uri.path().starts_with("/api/") { Form::Json } else { Form::Page })
    }
}

/// An answer in both forms, of which one is sent.
pub(crate) fn answer(
    form: Form,
    frame: &Frame<'_>,
    body: impl FnOnce() -> Markup,
    json: impl FnOnce() -> Value,
) -> Response {
    match form {
        Form::Page => page(frame, &body()),
        Form::Json => ([(CONTENT_TYPE, "application/json")], format!("{:#}\n", json())).into_response(),
    }
}

/// A whole page.
pub(crate) fn page(frame: &Frame<'_>, body: &Markup) -> Response {
    let version = env!("CARGO_PKG_VERSION");
    html(markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ "/assets/style.css?v=" (version) };
                title { (frame.title) " – flashscope" }
                @if frame.refresh { noscript { meta http-equiv="refresh" content="5"; } }
                @if frame.live {
                    script src={ "/assets/live.js?v=" (version) } defer {}
                }
            }
            body {
                (bar(frame.here, None))
                div.page {
                    main #main tabindex="-1" {
                        h1 { (frame.title) }
                        (body)
                    }
                    footer { "flashscope " (version) ", this machine alone" }
                }
            }
        }
    })
}

/// The bar on top, with what can be done with a report below it.
fn bar(here: Tab, tools: Option<&Markup>) -> Markup {
    markup! {
        a.skip href="#main" { "Skip to content" }
        header.bar {
            nav aria-label="Pages" {
                @for (tab, path, name) in TABS { a href=(path) aria-current=[(tab == here).then_some("page")] { (name) } }
            }
            @if let Some(tools) = tools { nav.tools aria-label="This record" { (tools) } }
        }
    }
}

/// A report with the bar above it; the rest is as `flashscope report` makes it, and what it may do is what it says itself.
pub(crate) fn report(title: &str, report: &str, tools: &Markup) -> Response {
    let body = format!("{}{}", begun(title, tools), rest(report));
    sent(flashscope_report::policy(report), Body::from(body))
}

/// The same in two parts, of which the first is shown while the second is made: whoever waits sees where they are.
pub(crate) fn report_in_turn(title: &str, tools: &Markup, report: oneshot::Receiver<Result<String, Oops>>) -> Response {
    let first = tokio_stream::once(Ok::<_, Infallible>(begun(title, tools)));
    let (sender, second) = mpsc::channel(1);
    tokio::spawn(async move {
        let made = report.await.unwrap_or_else(|_| Err(Oops::failed("a fault of flashscope itself")));
        let text = made.map_or_else(|oops| markup! { main #main { (oops.said()) } }.0, |report| rest(&report));
        let _ = sender.send(Ok(text)).await;
    });
    sent(&flashscope_report::any_policy(), Body::from_stream(first.chain(ReceiverStream::new(second))))
}

fn sent(policy: &str, body: Body) -> Response {
    let policy = format!("{policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    ([(CONTENT_SECURITY_POLICY, policy), (CONTENT_TYPE, HTML.to_owned())], body).into_response()
}

/// Everything above a report.
fn begun(title: &str, tools: &Markup) -> String {
    let head = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) " – flashscope" }
                style { (PreEscaped(flashscope_report::style_sheet())) (PreEscaped(asset::BAR)) }
            }
            body { (bar(Tab::Records, Some(tools))) }
        }
    };
    head.0.trim_end_matches("</body></html>").to_owned()
}

/// A report from its body on, with the rules that only its kind has.
fn rest(report: &str) -> String {
    let (head, body) = report.split_once("<body>").unwrap_or(("", report));
    let rules =
        head.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(rules, _)| rules);
    let own = rules.strip_prefix(flashscope_report::style_sheet().as_str()).unwrap_or(rules);
    let body = body.replacen("<main>", "<main id=\"main\" tabindex=\"-1\">", 1);
    format!("<style>{own}</style>{body}")
}

const HTML: &str = "text/html; charset=utf-8";

/// Markup as an answer.
pub(crate) fn html(markup: Markup) -> Response {
    ([(CONTENT_TYPE, HTML)], markup.into_string()).into_response()
}

/// `1 record`, `2 records`.
pub(crate) fn counted(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

/// A value as it stands in an address.
pub(crate) fn coded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// `2026-03-31 12:00`.
pub(crate) fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_an_address_is_letters_and_digits() {
        assert_eq!(coded("SD08G"), "SD08G");
        assert_eq!(coded("a&b=<c> ü\n"), "a%26b%3D%3Cc%3E%20%C3%BC%0A");
    }
}
