//! Runs, plans and records in JetStream.
//!
//! One stream holds a message for each run, the last one of its subject: the run as it is now. Every change says which message it
//! follows, so that of two that would change the same run the server takes one. Another stream holds plans and records, by their
//! hashes, so that the same is kept once and nothing is ever overwritten by something else. Nothing is answered before the server
//! has said that it is kept, which it says after it has synced (`sync_interval: always`).
//!
//! The rules of leases and attempts are those of [`Ledger`], which is in memory here; where the server did not say that it kept a
//! change, all of it is read anew.

use crate::clock::now;
use crate::error::{HostsError, Kind};
use crate::frame::{fold, unfold};
use crate::link::Link;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, LastRawMessageErrorKind, StorageType, Stream};
use flashscope_lab::{
    Archive, Attempt, AttemptEnd, Claim, Completion, Engine, Entry, Kept, Ledger, Phase, Run, RunState,
};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// Subjects of runs; the id follows.
const RUN: &str = "flashscope.run";
/// Subjects of plans; the hash follows.
const PLAN: &str = "flashscope.plan";
/// Subjects of records; id and hash follow.
const RECORD: &str = "flashscope.record";
/// How long the server may take to keep something.
const KEEPING: Duration = Duration::from_secs(5);
/// So many changes are on their way to the server at once.
const AT_ONCE: usize = 256;

/// The streams of one lab.
#[derive(Debug)]
pub struct Streams {
    link: Rc<Link>,
    context: Context,
    runs: Stream,
    archive: Stream,
    ledger: Ledger,
    /// Number of the message that holds each run.
    sequences: BTreeMap<String, u64>,
    /// How long leases hold that were found, in milliseconds.
    lease: u64,
    /// What is in memory may not be what the server has.
    stale: bool,
}

/// A run as its message has it.
#[derive(Serialize, Deserialize)]
struct RunKept {
    place: u64,
    id: String,
    device: String,
    identity: String,
    work: String,
    words: Vec<String>,
    power: Option<String>,
    phase: String,
    round: u32,
    state: String,
    owner: Option<String>,
    failures: u32,
    sha256: Option<String>,
    began: Option<u64>,
    ended: Option<u64>,
    why: Option<String>,
    attempts: Vec<AttemptKept>,
}

#[derive(Serialize, Deserialize)]
struct AttemptKept {
    began: u64,
    number: u32,
    owner: String,
    end: Option<String>,
}

impl RunKept {
    fn of(kept: Kept) -> RunKept {
        let Kept { place, entry, owner, attempts } = kept;
        let Entry { run, device, identity, work, state, failures, sha256, began, ended, why, attempts: _ } = entry;
        let Run { id, words, power, phase, .. } = run;
        let (state, round, phase) = (state.word().to_owned(), phase.round(), phase.word().to_owned());
        let attempt =
            |(began, Attempt { number, owner, end, .. }): (u64, Attempt)| AttemptKept { began, number, owner, end };
        let attempts = attempts.into_iter().map(attempt).collect();
        RunKept {
            place,
            id,
            device,
            identity,
            work,
            words,
            power,
            phase,
            round,
            state,
            owner,
            failures,
            sha256,
            began,
            ended,
            why,
            attempts,
        }
    }

    /// `None` where another version wrote it.
    fn kept(self) -> Option<Kept> {
        let id = self.id.clone();
        let attempt = |one: AttemptKept| {
            (one.began, Attempt { id: id.clone(), number: one.number, owner: one.owner, end: one.end })
        };
        let attempts: Vec<(u64, Attempt)> = self.attempts.into_iter().map(attempt).collect();
        let phase = Phase::of(&self.phase, self.round)?;
        let run =
            Run { id: self.id, device: 0, work: 0, others: Vec::new(), words: self.words, power: self.power, phase };
        let entry = Entry {
            run,
            device: self.device,
            identity: self.identity,
            work: self.work,
            state: RunState::of_word(&self.state)?,
            failures: self.failures,
            attempts: attempts.len() as u32,
            sha256: self.sha256,
            began: self.began,
            ended: self.ended,
            why: self.why,
        };
        Some(Kept { place: self.place, entry, owner: self.owner, attempts })
    }
}

impl Streams {
    /// Opens the streams, and makes them where they are not there.
    ///
    /// # Errors
    /// The server has no JetStream, or does not let this token use it.
    pub fn open(link: Rc<Link>, lease: u64) -> Result<Streams, HostsError> {
        let context = {
            // It starts tasks of its own.
            let _entered = link.runtime().enter();
            ContextBuilder::new().timeout(KEEPING).ack_timeout(KEEPING).build(link.client().clone())
        };
        let stream = |name: &str, subjects: Vec<String>| {
            let config = Config {
                name: name.to_owned(),
                subjects,
                max_messages_per_subject: 1,
                storage: StorageType::File,
                ..Config::default()
            };
            link.runtime().block_on(context.get_or_create_stream(config)).map_err(|error| {
                let hint = "scripts/nats-server starts a server with JetStream; the token has to be the coordinator's";
                HostsError::new(Kind::Engine, format!("cannot use the stream {name}: {error}"), hint)
            })
        };
        let runs = stream("FLASHSCOPE_RUNS", vec![format!("{RUN}.*")])?;
        let archive = stream("FLASHSCOPE_ARCHIVE", vec![format!("{PLAN}.*"), format!("{RECORD}.*.*")])?;
        let (ledger, sequences) = (Ledger::default(), BTreeMap::new());
        let mut streams = Streams { link, context, runs, archive, ledger, sequences, lease, stale: true };
        streams.refresh()?;
        Ok(streams)
    }

    /// Reads everything anew, where what is in memory may not be what the server has.
    fn refresh(&mut self) -> Result<(), HostsError> {
        if !self.stale {
            return Ok(());
        }
        let (mut ledger, mut sequences) = (Ledger::default(), BTreeMap::new());
        let until = now().saturating_add(self.lease);
        for (sequence, payload) in self.all(&self.runs, &format!("{RUN}.*"))? {
            let kept = serde_json::from_slice(&payload).ok().and_then(RunKept::kept).ok_or_else(|| {
                let hint = "it is of another version: finish with the one that it was begun with";
                HostsError::new(Kind::Engine, "a run in the stream cannot be read", hint)
            })?;
            sequences.insert(kept.entry.run.id.clone(), sequence);
            ledger.put(kept, until);
        }
        (self.ledger, self.sequences, self.stale) = (ledger, sequences, false);
        Ok(())
    }

    /// All messages of these subjects, with their numbers.
    fn all(&self, stream: &Stream, subjects: &str) -> Result<Vec<(u64, Vec<u8>)>, HostsError> {
        let failed = |error: &dyn std::fmt::Display| HostsError::engine("cannot read a stream", error);
        self.link.runtime().block_on(async {
            let config = OrderedConfig { filter_subject: subjects.to_owned(), ..OrderedConfig::default() };
            let consumer = stream.create_consumer(config).await.map_err(|error| failed(&error))?;
            let mut left = consumer.cached_info().num_pending;
            let mut found = Vec::new();
            if left == 0 {
                return Ok(found);
            }
            let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
            while left > 0 {
                let next = tokio::time::timeout(KEEPING, messages.next()).await.map_err(|error| failed(&error))?;
                let message = next.ok_or_else(|| failed(&"it ended"))?.map_err(|error| failed(&error))?;
                let info = message.info().map_err(|error| failed(&error))?;
                left = info.pending;
                found.push((info.stream_sequence, message.payload.to_vec()));
            }
            Ok(found)
        })
    }

    /// Changes the ledger and has the server keep what changed, before anything is answered.
    fn change<T>(&mut self, how: impl FnOnce(&mut Ledger) -> T) -> Result<T, HostsError> {
        self.refresh()?;
        let answer = how(&mut self.ledger);
        let changed = self.ledger.take_changed();
        // Until the server has said that it kept all of it.
        self.stale = !changed.is_empty();
        for some in changed.chunks(AT_ONCE) {
            self.keep(some)?;
        }
        self.stale = false;
        Ok(answer)
    }

    fn keep(&mut self, changed: &[Kept]) -> Result<(), HostsError> {
        let failed = |error: &dyn std::fmt::Display| HostsError::engine("the server did not keep a run", error);
        let (context, sequences) = (&self.context, &self.sequences);
        let kept: Vec<(String, u64)> = self.link.runtime().block_on(async {
            let mut sent = Vec::new();
            for kept in changed {
                let id = kept.entry.run.id.clone();
                let payload = serde_json::to_vec(&RunKept::of(kept.clone())).map_err(|error| failed(&error))?;
                let publish = PublishMessage::build()
                    .payload(payload.into())
                    .expected_last_subject_sequence(sequences.get(&id).copied().unwrap_or(0));
                let on_its_way = context.send_publish(format!("{RUN}.{id}"), publish).await;
                sent.push((id, on_its_way.map_err(|error| failed(&error))?));
            }
            let mut kept = Vec::new();
            for (id, on_its_way) in sent {
                kept.push((id, on_its_way.await.map_err(|error| failed(&error))?.sequence));
            }
            Ok::<_, HostsError>(kept)
        })?;
        self.sequences.extend(kept);
        Ok(())
    }

    /// Keeps bytes under a subject that says what they are; the same again is kept once.
    fn keep_bytes(&mut self, subject: String, bytes: Vec<u8>) -> Result<(), HostsError> {
        let failed =
            |error: &dyn std::fmt::Display| HostsError::engine("the server did not keep a record or a plan", error);
        let publish = PublishMessage::build().payload(bytes.into());
        self.link.runtime().block_on(async {
            let on_its_way = self.context.send_publish(subject, publish).await.map_err(|error| failed(&error))?;
            on_its_way.await.map(drop).map_err(|error| failed(&error))
        })
    }
}

/// What [`Ledger`] answers cannot fail.
fn sure<T>(answer: Result<T, std::convert::Infallible>) -> T {
    let Ok(answer) = answer;
    answer
}

impl Engine for Streams {
    type Error = HostsError;

    fn submit(&mut self, entries: &[Entry]) -> Result<usize, HostsError> {
        self.change(|ledger| sure(ledger.submit(entries)))
    }

    fn claim(&mut self, id: &str, owner: &str, now: u64, lease: u64) -> Result<Option<Claim>, HostsError> {
        self.change(|ledger| sure(ledger.claim(id, owner, now, lease)))
    }

    /// In memory alone: whoever reads the streams anew gives every holder a lease's time.
    fn heartbeat(&mut self, owner: &str, now: u64, lease: u64) -> Result<(), HostsError> {
        self.change(|ledger| sure(ledger.heartbeat(owner, now, lease)))
    }

    fn bury(&mut self, owner: &str, now: u64) -> Result<(), HostsError> {
        self.change(|ledger| sure(ledger.bury(owner, now)))
    }

    fn owners(&self) -> Result<Vec<String>, HostsError> {
        Ok(sure(self.ledger.owners()))
    }

    fn complete(&mut self, id: &str, attempt: u32, sha256: &str, now: u64) -> Result<Completion, HostsError> {
        self.change(|ledger| sure(ledger.complete(id, attempt, sha256, now)))
    }

    fn give_back(&mut self, claim: &Claim, end: &AttemptEnd, now: u64) -> Result<(), HostsError> {
        self.change(|ledger| sure(ledger.give_back(claim, end, now)))
    }

    fn discard(&mut self, id: &str, why: &str) -> Result<(), HostsError> {
        self.change(|ledger| sure(ledger.discard(id, why)))
    }

    fn retry(&mut self, id: &str) -> Result<(), HostsError> {
        self.change(|ledger| sure(ledger.retry(id)))
    }

    fn list(&self) -> Result<Vec<Entry>, HostsError> {
        Ok(sure(self.ledger.list()))
    }

    fn attempts(&self) -> Result<Vec<Attempt>, HostsError> {
        Ok(sure(self.ledger.attempts()))
    }
}

impl Archive for Streams {
    fn keep_record(&mut self, id: &str, sha256: &str, record: &[u8]) -> Result<(), HostsError> {
        self.keep_bytes(format!("{RECORD}.{id}.{sha256}"), fold(record))
    }

    fn record(&self, id: &str, sha256: &str) -> Result<Option<Vec<u8>>, HostsError> {
        let subject = format!("{RECORD}.{id}.{sha256}");
        let found = self.link.runtime().block_on(self.archive.get_last_raw_message_by_subject(&subject));
        match found {
            Ok(message) => Ok(unfold(&message.payload)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(HostsError::engine("cannot read a record", error)),
        }
    }

    fn keep_plan(&mut self, sha256: &str, text: &str) -> Result<(), HostsError> {
        let known = self.plans()?.iter().any(|plan| plan == text);
        if known { Ok(()) } else { self.keep_bytes(format!("{PLAN}.{sha256}"), fold(text.as_bytes())) }
    }

    fn keep_lie(&mut self, id: &str, agent: &str) -> Result<bool, HostsError> {
        self.change(|ledger| ledger.note_lie(id, agent))
    }

    fn plans(&self) -> Result<Vec<String>, HostsError> {
        let all = self.all(&self.archive, &format!("{PLAN}.*"))?.into_iter();
        Ok(all.filter_map(|(_, bytes)| String::from_utf8(unfold(&bytes)?).ok()).collect())
    }
}
