//! An agent without workers: the talk of a real one, records made on the spot.

use crate::connect;
use flashscope_hosts::{Ended, Link, Pace, Shelf, Token, attend};
use flashscope_lab::ask::{AgentAnswer, AgentAsk, End};
use flashscope_lab::keep::Fate;
use flashscope_lab::{Order, sha256};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// So many runs are taken at once.
const ROOM: u32 = 16;

/// How long a run takes.
const TAKES: Duration = Duration::from_millis(30);

/// The record of a run: the same whoever makes it and whenever. `filler` bytes of it hardly get smaller by compression.
pub(crate) fn record(id: &str, identity: &str, filler: usize) -> Vec<u8> {
    let mut noise = sha256(id.as_bytes());
    while noise.len() < filler {
        let next = sha256(&noise.as_bytes()[noise.len() - 64..]);
        noise.push_str(&next);
    }
    let text = serde_json::json!({
        "schema": "flashscope.record/0", "kind": "bench", "target": identity, "device": null,
        "ended": { "how": "complete" }, "run": id, "noise": noise,
    });
    text.to_string().into_bytes()
}

/// `--agent URL CA TOKEN DIR FILLER [--odd]`.
pub(crate) fn main(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [url, ca, token, dir, filler, odd @ ..] = words else { return Err("too few words".into()) };
    let token = Token::read(Path::new(token))?;
    let link = loop {
        match connect(url, Path::new(ca), &token) {
            Ok(link) => break link,
            Err(error) => eprintln!("{error}"),
        }
        std::thread::sleep(Duration::from_millis(300));
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    eprintln!("ready at {} s since 1970", since.as_secs());
    let incarnation = format!("{}-{}", std::process::id(), since.as_nanos());
    let filler = filler.parse()?;
    if !odd.is_empty() {
        return liar(&link, &incarnation, filler, Path::new(dir));
    }
    let mut toy = Toy::new(dir.into(), filler)?;
    let pace = Pace { beat: Duration::from_secs(1), until_idle: None };
    attend(&link, &mut toy, &incarnation, pace, &|| false, &mut |text| eprintln!("{text}"));
    Ok(())
}

/// Records in a directory, each beside the order that it was made for.
struct Toy {
    dir: PathBuf,
    filler: usize,
    begun: BTreeMap<String, Order>,
    /// Ended, and not answered for.
    untold: BTreeMap<String, u32>,
    ended: Vec<Ended>,
}

impl Toy {
    fn new(dir: PathBuf, filler: usize) -> io::Result<Toy> {
        fs::create_dir_all(&dir)?;
        let mut toy = Toy { dir, filler, begun: BTreeMap::new(), untold: BTreeMap::new(), ended: Vec::new() };
        for file in fs::read_dir(&toy.dir)?.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some((id, attempt)) = name.strip_suffix(".record").and_then(|name| name.split_once('.')) else {
                continue;
            };
            let attempt = attempt.parse().map_err(io::Error::other)?;
            toy.untold.insert(id.to_owned(), attempt);
            toy.ended.push(Ended { id: id.to_owned(), attempt, without: None });
        }
        Ok(toy)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.{}.record", self.untold.get(id).copied().unwrap_or_default()))
    }
}

impl Shelf for Toy {
    fn devices(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn room(&mut self) -> u32 {
        ROOM.saturating_sub(self.begun.len() as u32)
    }

    fn begin(&mut self, orders: Vec<Order>) {
        for order in orders {
            let refused = order.check(&[], &[]).is_err();
            if !refused && !self.untold.contains_key(&order.id) {
                self.begun.insert(order.id.clone(), order);
            }
        }
    }

    fn under_way(&mut self) -> Vec<String> {
        self.begun.keys().chain(self.untold.keys()).cloned().collect()
    }

    fn ended(&mut self) -> Vec<Ended> {
        // One at a time, so that kills find some that are begun, and a few that are not told of.
        while let Some((id, order)) = self.begun.pop_first() {
            std::thread::sleep(TAKES);
            // One of fifty fails at its first attempt.
            if order.attempt == 1 && id.starts_with("00") {
                let end = End::Failed { why: "a failure that was asked for".to_owned() };
                self.ended.push(Ended { id, attempt: order.attempt, without: Some(end) });
                continue;
            }
            let new = self.dir.join("new");
            self.untold.insert(id.clone(), order.attempt);
            let written = fs::write(&new, record(&id, &order.identity, self.filler));
            if written.and_then(|()| fs::rename(&new, self.path(&id))).is_ok() {
                self.ended.push(Ended { id, attempt: order.attempt, without: None });
            }
            if self.ended.len() >= 4 {
                break;
            }
        }
        std::mem::take(&mut self.ended)
    }

    fn record(&mut self, id: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(id))
    }

    fn settle(&mut self, id: &str, fate: Fate) {
        let path = self.path(id);
        match fate {
            Fate::Keep => {}
            Fate::Remove => drop(fs::remove_file(path)),
            Fate::SetAside(_) => drop(fs::rename(&path, path.with_extension("aside"))),
        }
        self.untold.remove(id);
    }
}

/// Says everything twice, lies about every fourth record (its bytes are others than its hash says), and says of runs that are
/// done that they failed.
fn liar(link: &Link, incarnation: &str, filler: usize, dir: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(dir)?;
    let mut told = 0u64;
    loop {
        let ask = AgentAsk::Work {
            incarnation: incarnation.to_owned(),
            holding: Vec::new(),
            room: 4,
            devices: vec!["nobody's:1".to_owned()],
        };
        let orders = match link.agent_asks(&ask, &[]) {
            Ok(AgentAnswer::Orders { orders, .. }) => orders,
            _ => Vec::new(),
        };
        for order in &orders {
            told += 1;
            let record = self::record(&order.id, &order.identity, filler);
            let done = End::Done { sha256: sha256(&record) };
            // Another run's record on this device: nothing but its hash gives it away.
            let other: String = order.id.chars().rev().collect();
            let lie = self::record(&other, &order.identity, filler);
            let is_lie = told.is_multiple_of(4);
            let sent = if is_lie { &lie } else { &record };
            for end in [done.clone(), done, End::Failed { why: "a late lie".to_owned() }] {
                let ask = AgentAsk::Ended { id: order.id.clone(), attempt: order.attempt, end };
                let answer = link.agent_asks(&ask, sent);
                if is_lie && matches!(answer, Ok(AgentAnswer::Confirmed { .. })) {
                    // Only where the run was done by somebody before, of which the coordinator reminds.
                    continue;
                }
            }
            if is_lie {
                fs::write(dir.join(format!("{}.lie", order.id)), b"")?;
            }
        }
        std::thread::sleep(Duration::from_millis(if orders.is_empty() { 200 } else { 20 }));
    }
}
