//! Who may ask: every request passes here first, and every answer on its way out.
//!
//! In this order: the name by which this host was asked for (a page elsewhere whose name was made to point here is refused), where
//! the asking page is from, and the token. What a browser is told with each answer keeps pages of others from framing, reading or
//! scripting these.

use crate::app::App;
use crate::oops::Oops;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// What pages of this program's own may do: load its style sheet and script, ask it, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Where somebody with a token comes in.
pub(crate) const ENTER: &str = "/enter";

/// The names under which this host may be asked for, with the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    hosts: Vec<String>,
    scheme: &'static str,
}

impl Names {
    /// Of the address that is listened at, and names that the operator gave.
    pub(crate) fn of(listen: SocketAddr, others: &[String], tls: bool) -> Names {
        let mut bare = vec![match listen {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        }];
        if listen.ip().is_loopback() {
            bare.push("localhost".to_owned());
        }
        bare.extend(others.iter().map(|name| name.to_ascii_lowercase()));
        let (scheme, usual) = if tls { ("https", 443) } else { ("http", 80) };
        let with_port = |name: String| {
            let full = format!("{name}:{}", listen.port());
            if listen.port() == usual { vec![full, name] } else { vec![full] }
        };
        Names { hosts: bare.into_iter().flat_map(with_port).collect(), scheme }
    }

    fn is_host(&self, said: &str) -> bool {
        self.hosts.iter().any(|host| host.eq_ignore_ascii_case(said))
    }

    fn is_origin(&self, said: &str) -> bool {
        said.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix("://")).is_some_and(|host| self.is_host(host))
    }

    /// The address of a page here, under the first name.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.hosts.first().map_or("", String::as_str))
    }
}

/// Lets a request pass, or answers it.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut answer = match refused(&app, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    let mut say = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    say(CONTENT_SECURITY_POLICY, POLICY);
    say(CACHE_CONTROL, "no-store");
    say(X_CONTENT_TYPE_OPTIONS, "nosniff");
    say(X_FRAME_OPTIONS, "DENY");
    // Without it browsers would name no origin with a form of these pages.
    say(REFERRER_POLICY, "same-origin");
    say(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    say(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    answer
}

fn refused(app: &App, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    // One name, and not two of which another program would take the other.
    let hosts = headers.get_all(HOST).iter().count();
    if hosts != 1 || !text(&HOST).is_some_and(|host| app.names.is_host(host)) {
        return Some(refusal(StatusCode::MISDIRECTED_REQUEST, "this is not the address of this page", app));
    }
    let origin = text(&ORIGIN);
    if origin.is_some_and(|origin| !app.names.is_origin(origin)) {
        return Some(refusal(StatusCode::FORBIDDEN, "another page asked", app));
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads && origin.is_none() {
        return Some(refusal(StatusCode::FORBIDDEN, "nobody says which page asked", app));
    }
    let enters = request.uri().path() == ENTER;
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?"));
    if !enters && site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Some(refusal(StatusCode::FORBIDDEN, "another page asked", app));
    }
    if enters {
        return Some(enter(app, request.uri().query().unwrap_or_default()));
    }
    (!knows(app, headers)).then(|| refusal(StatusCode::UNAUTHORIZED, "this page needs its token", app))
}

/// Whether a request bears the token, as a cookie or, for programs, as a bearer of it.
fn knows(app: &App, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
    let mut cookies = cookies.filter_map(|cookie| cookie.trim().strip_prefix(app.cookie.as_str())?.strip_prefix('='));
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    cookies.any(|said| app.token.is(said)) || bearer.is_some_and(|said| app.token.is(said))
}

/// Exchanges a token in an address for a cookie, so that no further address holds it.
fn enter(app: &App, query: &str) -> Response {
    let said = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if !said.is_some_and(|said| app.token.is(said)) {
        return refusal(StatusCode::UNAUTHORIZED, "this token is not the one", app);
    }
    let secure = if app.tls { "; Secure" } else { "" };
    let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict{secure}", app.cookie, app.token.reveal());
    (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response()
}

/// A refusal says nothing of what there is. It has no style, which needs the token as well.
fn refusal(status: StatusCode, why: &str, app: &App) -> Response {
    let page = maud::html! {
        (maud::DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta name="viewport" content="width=device-width"; title { "flashscope" } }
            body { main { h1 { "flashscope" } p { "Refused: " (why) "." } p { "Open the address that `flashscope serve` printed: " (app.names.address("/enter?token=…")) } } }
        }
    };
    (status, crate::page::html(page)).into_response()
}

/// Whether a form is one of ours.
pub(crate) fn check_form(app: &App, said: &str) -> Result<(), Oops> {
    match app.form.is(said) {
        true => Ok(()),
        false => {
            Err(Oops::asked("this form is of an earlier start of the program\nhint: load the page anew and try again"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_this_host_and_their_port_are_answered() {
        let names = Names::of("127.0.0.1:8420".parse().unwrap(), &["Bench.lan".to_owned()], false);
        for good in ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "bench.lan:8420"] {
            assert!(names.is_host(good) && names.is_origin(&format!("http://{good}")), "{good}");
        }
        for bad in
            ["", "evil.example:8420", "127.0.0.1", "127.0.0.1:80", "localhost:8420.evil.example", "localhost:84200"]
        {
            assert!(!names.is_host(bad) && !names.is_origin(&format!("http://{bad}")), "{bad}");
        }
        assert!(!names.is_origin("null") && !names.is_origin("https://localhost:8420"));
        let names = Names::of("[::1]:443".parse().unwrap(), &[], true);
        assert!(names.is_host("[::1]") && names.is_origin("https://[::1]") && names.is_origin("https://localhost:443"));
        assert_eq!(names.address("/"), "https://[::1]:443/");
        let names = Names::of("192.0.2.7:8420".parse().unwrap(), &[], true);
        assert!(!names.is_host("localhost:8420"), "another address than loopback is not called so");
    }
}
