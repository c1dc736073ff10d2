//! Pages that change by themselves: server-sent events of what stands on them.

use crate::app::{App, aside};
use crate::oops::Oops;
use axum::response::IntoResponse;
use axum::response::Response;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// How often it is looked whether something changed.
const EVERY: Duration = Duration::from_millis(500);

/// What a page shows at a moment: an answer in a sentence, and the markup of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) answer: String,
    pub(crate) html: String,
}

/// A stream of what is shown, each time that it is another thing.
pub(crate) fn stream(
    app: Arc<App>,
    show: impl Fn(&App) -> Result<Shown, Oops> + Clone + Send + 'static,
) -> Result<Response, Oops> {
    let place = app.streams.clone().try_acquire_owned();
    let place =
        place.map_err(|_| Oops::busy("too many pages are open\nhint: close some of them, and load this one again"))?;
    let (sender, receiver) = mpsc::channel::<Result<Event, Infallible>>(2);
    tokio::spawn(async move {
        let _place = place;
        let mut before = None;
        while !sender.is_closed() {
            let show = show.clone();
            let Ok(now) = aside(&app, move |app| show(app)).await else { return };
            if before.as_ref() != Some(&now) {
                // One line of JSON: no name in it can begin an event of its own.
                let data = json!({ "answer": now.answer, "html": now.html }).to_string();
                if sender.send(Ok(Event::default().data(data))).await.is_err() {
                    return;
                }
                before = Some(now);
            }
            tokio::time::sleep(EVERY).await;
        }
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()).into_response())
}
