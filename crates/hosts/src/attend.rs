//! An agent's side of the talk: asks for work, says that it lives, brings results, and goes on asking whatever happens to the
//! server, the coordinator or the network.

use crate::error::HostsError;
use crate::link::Link;
use flashscope_lab::ask::{AgentAnswer, AgentAsk, End};
use flashscope_lab::keep::{Fate, fate};
use flashscope_lab::{Order, sha256};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// What does the work on a host.
pub trait Shelf {
    /// Identities of the real devices that are attached.
    fn devices(&mut self) -> Vec<String>;

    /// So many runs more on simulated devices.
    fn room(&mut self) -> u32;

    /// Has these runs done. One that is under way already is the same run.
    fn begin(&mut self, orders: Vec<Order>);

    /// The runs that are begun and that nobody was told the end of.
    fn under_way(&mut self) -> Vec<String>;

    /// What has ended since this was asked last; at first also what an earlier life of the agent left.
    fn ended(&mut self) -> Vec<Ended>;

    /// The record of a run.
    ///
    /// # Errors
    /// It cannot be read.
    fn record(&mut self, id: &str) -> io::Result<Vec<u8>>;

    /// What is to become of a record. Not called before the server has answered for it.
    fn settle(&mut self, id: &str, fate: Fate);
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The run.
    pub id: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// Why there is no record; `None` where there is one.
    pub without: Option<End>,
}

/// How often an agent speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// It says at least so often that it lives: a sixth of a lease, which the coordinator's answers shorten.
    pub beat: Duration,
    /// It ends when there was nothing to do for so long.
    pub until_idle: Option<Duration>,
}

/// How often it is looked for what has ended.
const LOOK: Duration = Duration::from_millis(20);
/// A lease is renewed so many times while it holds.
const BEATS: u64 = 6;

/// Works until `stop` says so, or as the pace says. `incarnation` is drawn anew for each life of the agent.
pub fn attend(
    link: &Link,
    shelf: &mut impl Shelf,
    incarnation: &str,
    pace: Pace,
    stop: &dyn Fn() -> bool,
    say: &mut dyn FnMut(&str),
) {
    let mut outbox: VecDeque<Ended> = VecDeque::new();
    let (mut asked, mut worked) = (None::<Instant>, Instant::now());
    let mut beat = pace.beat;
    let mut trouble = false;
    loop {
        outbox.extend(shelf.ended());
        let mut failed = None;
        let is_news = !outbox.is_empty();
        while let Some(ended) = outbox.front() {
            match bring(link, shelf, ended, say) {
                Ok(true) => drop(outbox.pop_front()),
                Ok(false) => {
                    failed = Some("the coordinator could not keep a result; it is brought again".to_owned());
                    break;
                }
                Err(error) => {
                    failed = Some(error.what);
                    break;
                }
            }
            // Runs under way must not lose their leases while many results are brought.
            if asked.is_some_and(|asked| asked.elapsed() >= beat) {
                break;
            }
        }
        if stop() && shelf.under_way().is_empty() && (outbox.is_empty() || failed.is_some()) {
            return;
        }
        let is_time = asked.is_none_or(|asked| asked.elapsed() >= beat);
        if failed.is_none() && (is_time || (is_news && !stop())) {
            let mut holding = shelf.under_way();
            holding.extend(outbox.iter().map(|ended| ended.id.clone()));
            let (room, devices) = if stop() { (0, Vec::new()) } else { (shelf.room(), shelf.devices()) };
            let ask = AgentAsk::Work { incarnation: incarnation.to_owned(), holding, room, devices };
            asked = Some(Instant::now());
            match link.agent_asks(&ask, &[]) {
                Ok(AgentAnswer::Orders { orders, lease }) => {
                    beat = pace.beat.min(Duration::from_millis(lease / BEATS));
                    if !orders.is_empty() {
                        worked = Instant::now();
                        shelf.begin(orders);
                    }
                }
                Ok(AgentAnswer::Later { why }) => failed = Some(why),
                Ok(other) => failed = Some(format!("it answered {other:?}")),
                Err(error) => failed = Some(error.what),
            }
        }
        match (&failed, trouble) {
            (Some(why), false) => say(&format!("{why}; work goes on, results are kept, and it is asked again")),
            (None, true) if asked.is_some() => say("the coordinator answers again"),
            _ => {}
        }
        trouble = failed.is_some();
        if !outbox.is_empty() || !shelf.under_way().is_empty() {
            worked = Instant::now();
        }
        if pace.until_idle.is_some_and(|idle| worked.elapsed() >= idle) {
            return;
        }
        link.rest(if trouble { beat.min(Duration::from_millis(300)) } else { LOOK });
    }
}

/// Brings one result; whether the coordinator took it.
fn bring(link: &Link, shelf: &mut impl Shelf, ended: &Ended, say: &mut dyn FnMut(&str)) -> Result<bool, HostsError> {
    let (end, record) = match (&ended.without, shelf.record(&ended.id)) {
        (Some(end), _) => (end.clone(), Vec::new()),
        (None, Ok(record)) => (End::Done { sha256: sha256(&record) }, record),
        (None, Err(error)) => (End::Failed { why: format!("its record cannot be read: {error}") }, Vec::new()),
    };
    let hash = match &end {
        End::Done { sha256 } => Some(sha256.clone()),
        _ => None,
    };
    let ask = AgentAsk::Ended { id: ended.id.clone(), attempt: ended.attempt, end };
    let answer = link.agent_asks(&ask, &record)?;
    if matches!(answer, AgentAnswer::Later { .. }) {
        return Ok(false);
    }
    match hash.map(|hash| fate(&hash, &answer)) {
        Some(Fate::Keep) => return Ok(false),
        Some(fate) => {
            if let Fate::SetAside(why) = &fate {
                say(&format!("the record of {} is set aside: {why}", ended.id));
            }
            shelf.settle(&ended.id, fate);
        }
        None => {}
    }
    Ok(true)
}
