//! The coordinator's side of the talk.

use crate::clock::now;
use crate::engine::Streams;
use crate::error::{HostsError, Kind};
use crate::link::Link;
use crate::{ASK, OPERATOR, frame};
use async_nats::{Message, Subscriber};
use flashscope_lab::Coordinator;
use flashscope_lab::ask::{AgentAnswer, AgentAsk, OperatorAnswer, OperatorAsk};
use futures_util::StreamExt;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(200);
/// After a failure of the engine it is left alone for so long; who asks meanwhile is told to ask again.
const REST: Duration = Duration::from_millis(500);

/// Answers agents and operators until `stop` says so.
///
/// # Errors
/// Another coordinator is at work on this server, or it cannot be listened to.
pub fn serve(
    link: &Link,
    coordinator: &mut Coordinator<Streams>,
    version: &str,
    stop: &dyn Fn() -> bool,
    say: &mut dyn FnMut(&str),
) -> Result<(), HostsError> {
    if link.ask::<OperatorAnswer>(OPERATOR.to_owned(), &OperatorAsk::Who, &[]).is_ok() {
        let hint = "one is enough; where it hangs, end it first";
        return Err(HostsError::new(Kind::Given, "another coordinator is at work on this server", hint));
    }
    let mut asks = listen(link, format!("{ASK}.*"))?;
    let mut operators = listen(link, OPERATOR.to_owned())?;
    say("ready");
    let mut rests: Option<Instant> = None;
    while !stop() {
        let next = async {
            tokio::select! {
                biased;
                message = operators.next() => message,
                message = asks.next() => message,
                () = tokio::time::sleep(LOOK) => None,
            }
        };
        let Some(message) = link.runtime().block_on(next) else { continue };
        let Some(reply) = message.reply.clone() else { continue };
        let answered = match rests {
            Some(until) if until > Instant::now() => {
                Err(HostsError::engine("the coordinator waits for its engine", "it failed a moment ago"))
            }
            Some(_) => coordinator.look_again(now()).and_then(|()| {
                say("the engine answers again");
                rests = None;
                answer(coordinator, &message, version, now())
            }),
            None => answer(coordinator, &message, version, now()),
        };
        let packed = answered.unwrap_or_else(|error| {
            if error.kind == Kind::Engine && rests.is_none_or(|until| until <= Instant::now()) {
                say(&format!("{error}"));
                rests = Some(Instant::now() + REST);
            }
            unable(&message, &error)
        });
        let client = link.client();
        let sent = link.runtime().block_on(async {
            client.publish(reply, packed.into()).await.map_err(|error| error.to_string())?;
            client.flush().await.map_err(|error| error.to_string())
        });
        if let Err(error) = sent {
            say(&format!("an answer could not be sent, and will be asked for again: {error}"));
        }
    }
    Ok(())
}

fn listen(link: &Link, subject: String) -> Result<Subscriber, HostsError> {
    let hint = "the token has to be the coordinator's";
    let client = link.client();
    let subscribed = link.runtime().block_on(async {
        let subscriber = client.subscribe(subject).await.map_err(|error| error.to_string())?;
        client.flush().await.map_err(|error| error.to_string())?;
        Ok::<_, String>(subscriber)
    });
    subscribed.map_err(|error| HostsError::new(Kind::Server, format!("cannot listen: {error}"), hint))
}

fn answer(
    coordinator: &mut Coordinator<Streams>,
    message: &Message,
    version: &str,
    now: u64,
) -> Result<Vec<u8>, HostsError> {
    match agent_of(message) {
        Some(name) => {
            let (ask, record): (AgentAsk, _) = frame::unpack(&message.payload)?;
            Ok(packed(&coordinator.agent(name, ask, &record, now)?, &[]))
        }
        None => {
            let (ask, text): (OperatorAsk, _) = frame::unpack(&message.payload)?;
            let (answer, bytes) = coordinator.operator(ask, &text, version, now)?;
            Ok(packed(&answer, &bytes))
        }
    }
}

/// What somebody is told whose ask could not be answered.
fn unable(message: &Message, error: &HostsError) -> Vec<u8> {
    match agent_of(message) {
        Some(_) => packed(&AgentAnswer::Later { why: error.what.clone() }, &[]),
        None => packed(&OperatorAnswer::Refused { why: error.to_string() }, &[]),
    }
}

/// The server lets each agent ask in its own name alone.
fn agent_of(message: &Message) -> Option<&str> {
    message.subject.as_str().strip_prefix(ASK)?.strip_prefix('.')
}

fn packed(words: &impl Serialize, bytes: &[u8]) -> Vec<u8> {
    frame::pack(words, bytes)
}
