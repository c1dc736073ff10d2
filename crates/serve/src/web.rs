//! Which address is answered by what. Every page that a person sees is there as JSON below `/api` as well.

use crate::app::App;
use crate::guard::{self, guard};
use crate::oops::Oops;
use crate::{asset, compare, devices, home, labs, records, runs, trends};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::middleware;
use axum::routing::{get, post};
use std::sync::Arc;

/// No form is longer, in bytes.
const LONGEST_FORM: usize = 16 << 10;

/// All of it, behind the guard.
pub(crate) fn pages(app: Arc<App>) -> Router {
    let router = Router::new();
    let router = both(router, "/", "/api/attention", home::show);
    let router = both(router, "/records", "/api/records", records::list);
    let router = both(router, "/devices", "/api/devices", devices::list);
    let router = both(router, "/device", "/api/device", devices::one);
    let router = both(router, "/trends", "/api/trends", trends::list);
    let router = both(router, "/trend", "/api/trend", trends::one);
    let router = both(router, "/compare", "/api/compare", compare::show);
    let router = both(router, "/labs", "/api/labs", labs::list);
    let router = both(router, "/labs/{number}", "/api/labs/{number}", labs::one);
    router
        .route("/records/{id}", get(records::one))
        .route("/records/{id}/report.html", get(records::report))
        .route("/records/{id}/record.json", get(records::bytes))
        .route("/api/records/{id}", get(records::bytes))
        .route("/labs/{number}/runs/{place}", get(labs::report))
        .route("/events/labs/{number}", get(labs::events))
        .route("/runs", get(runs::list).post(runs::start))
        .route("/api/runs", get(runs::list))
        .route("/runs/{number}/stop", post(runs::stop))
        .route("/events/runs", get(runs::events))
        .route("/assets/style.css", get(asset::style))
        .route("/assets/live.js", get(asset::script))
        .fallback(|| async { Oops::missing("there is no such page\nhint: / has links to all") })
        .layer(DefaultBodyLimit::max(LONGEST_FORM))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// A page, and the same as JSON.
fn both<T: 'static>(
    router: Router<Arc<App>>,
    page: &str,
    json: &str,
    handler: impl Handler<T, Arc<App>>,
) -> Router<Arc<App>> {
    debug_assert!(page != guard::ENTER, "the guard answers that itself");
    router.route(page, get(handler.clone())).route(json, get(handler))
}
