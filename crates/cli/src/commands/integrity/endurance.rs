//! `integrity --endurance`: passes over the whole device, gone on with where they were stopped.

use crate::args::Integrity;
use crate::commands::bench::bar;
use crate::envelope;
use crate::error::Failure;
use crate::making::{self, beside, unfit};
use crate::progress::{Turn, whole};
use crate::target::{self, Opened, Writes};
use crate::{input, interrupt, output};
use anyhow::anyhow;
use flashscope_capacity::FullPlan;
use flashscope_device::{Refusal, RefusalKind, Target, WriteGrant};
use flashscope_endurance::{Journal, Look, Plan, Progress, Watch, endure, head};
use flashscope_host::{Output, Surroundings, SysRoot, disk_under};
use flashscope_integrity::first_generation;
use flashscope_journal::{Journal as Kept, Subject};
use flashscope_model::endurance::{LifeLimit, Rating};
use flashscope_model::integrity::{IntegrityPlan, IntegrityRecord, Verdict};
use flashscope_model::{DeviceFacts, DeviceKind, Kind, StopReason};
use flashscope_state::assumed_rates;
use flashscope_units::{ByteRate, Bytes, Instant, Nanos};
use indicatif::ProgressBar;
use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What is spent of the rated life unless something else is asked for.
const USUAL_LIFE: f64 = 0.05;
/// How often the progress is drawn, and a wish to stop is heard while a device is left alone.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// What was planned for a device, once it was looked at.
struct Planned {
    plan: Plan,
    journal: Journal,
    /// Where the journal is kept; of a simulated device nowhere, as it is gone with this program.
    kept: Option<Output>,
}

/// Carries the passes out.
pub(super) fn run(args: &Integrity) -> Result<IntegrityRecord, Failure> {
    let planned = RefCell::new(None);
    let cost = |facts: &DeviceFacts| {
        let plan = planned_for(args, facts)?;
        let budget = plan.budget(args)?;
        *planned.borrow_mut() = Some(plan);
        Ok(budget)
    };
    let opened = target::open(&args.target, Writes::Exactly(&cost))?;
    let Some(planned) = planned.take() else {
        return Err(cannot("the target was opened before it was looked at".to_owned()));
    };
    match opened {
        Opened::Simulated { mut target, grant: Some(mut grant) } => {
            Ok(worn(args, planned, (target.as_mut(), &mut grant), None))
        }
        Opened::Host { mut target, grant: Some(mut grant), here } => {
            output::talk(&words(args, target.facts(), &planned)?.join("\n"));
            Ok(worn(args, planned, (target.as_mut(), &mut grant), Some(*here)))
        }
        _ => Err(cannot("endurance is told by writing\nhint: leave out --read-only, and --max-write 0".to_owned())),
    }
}

/// What would be done, for people or for programs.
pub(super) fn dry_run(args: &Integrity) -> Result<String, Failure> {
    let mut reading = args.target.clone();
    reading.consent.read_only = true;
    let planned = RefCell::new(None);
    let cost = |facts: &DeviceFacts| {
        let plan = planned_for(args, facts)?;
        let words = words(args, facts, &plan)?;
        *planned.borrow_mut() = Some((words, plan, facts.clone()));
        Ok(Bytes::ZERO)
    };
    target::open(&reading, Writes::Exactly(&cost))?;
    let Some((words, planned, facts)) = planned.take() else {
        return Err(cannot("the target was opened before it was looked at".to_owned()));
    };
    if !args.results.json {
        return Ok(words.join("\n"));
    }
    let Plan { claimed, most_passes, until, limit, reread_after, .. } = planned.plan;
    let plan = serde_json::json!({
        "device": facts.name,
        "capacity_bytes": claimed.get(),
        "passes_at_most": planned.plan.passes_at_most(),
        "most_passes": most_passes,
        "until": until.map(|until| until.word()),
        "life_share_ratio": limit.map(|limit| limit.share),
        "rated_bytes": limit.map(|limit| limit.rated.get()),
        "rating": limit.map(|limit| limit.rating.word()),
        "reread_after_ns": reread_after.map(Nanos::get),
        "write_at_most_bytes": planned.writes_at_most().map(Bytes::get),
        "pass_time_ns": pass_time(&facts).0.get(),
    });
    Ok(format!("{plan:#}"))
}

/// Plans for a device, and finds the journal.
fn planned_for(args: &Integrity, facts: &DeviceFacts) -> Result<Planned, Failure> {
    let asked = &args.endurance;
    if facts.capacity < FullPlan::LEAST {
        return Err(cannot(format!("{} is too small to be tested: {} at least", facts.capacity, FullPlan::LEAST)));
    }
    let claimed = facts.capacity.align_down(facts.logical_block);
    // A simulated device wears nobody's; where another end is named, that is one.
    let is_limited = asked.life.is_some() || !facts.simulated || (asked.passes.is_none() && asked.until.is_none());
    let (rated, rating) = match asked.rated_writes {
        Some(rated) => (rated, Rating::Given),
        None => (claimed * Plan::ASSUMED_CAPACITY_WRITES, Rating::Assumed),
    };
    let limit = is_limited.then_some(LifeLimit { share: asked.life.unwrap_or(USUAL_LIFE), rated, rating });
    let plan = Plan {
        claimed,
        block: facts.logical_block,
        seed: args.target.seed,
        most_passes: asked.passes,
        until: asked.until,
        limit,
        reread_after: asked.reread_after,
    };
    let subject = making::subject(&args.target.target, facts);
    let (journal, kept) = journal(args, facts, &plan, subject)?;
    refuse_wear(args, &plan, &journal)?;
    Ok(Planned { plan, journal, kept })
}

/// More than the usual share of the life needs the operator's word.
fn refuse_wear(args: &Integrity, plan: &Plan, journal: &Journal) -> Result<(), Failure> {
    let Some(limit) = plan.limit.filter(|_| !journal.is_written()) else { return Ok(()) };
    let allowed = Plan { most_passes: None, ..plan.clone() }.passes_at_most().unwrap_or(u32::MAX);
    let wished = plan.most_passes.unwrap_or(1);
    let is_too_much = allowed == 0 || (args.endurance.life.is_none() && wished > allowed);
    if !is_too_much {
        return Ok(());
    }
    let share = limit.share_of(plan.claimed * u64::from(wished)) * 100.0;
    let who = match limit.rating {
        Rating::Given => "that was given",
        Rating::Assumed => "that is assumed, as nobody named one",
    };
    let passes = if wished == 1 { "1 pass takes".to_owned() } else { format!("{wished} passes take") };
    let what = format!(
        "{passes} {share:.1} % of the rated life {who} ({}), and {:.3} % is the most",
        limit.rated,
        limit.share * 100.0
    );
    let release =
        Some(format!("add --life {:.0}%, or name what it is rated for with --rated-writes", (share - 1e-9).ceil()));
    let refusals = vec![Refusal { kind: RefusalKind::NoConsent, what, release }];
    Err(Failure::Refused { target: args.target.target.clone(), writing: true, refusals })
}

fn journal(
    args: &Integrity,
    facts: &DeviceFacts,
    plan: &Plan,
    subject: Subject,
) -> Result<(Journal, Option<Output>), Failure> {
    let word = if facts.simulated { args.target.seed } else { target::of_this_run(args.target.seed) };
    let new = |subject| Journal::new(plan, subject, first_generation(word));
    if facts.simulated {
        return match args.journal {
            Some(_) => Err(cannot(
                "a simulated device is gone with this program, and needs no journal\nhint: leave out --journal"
                    .to_owned(),
            )),
            None => Ok((new(subject), None)),
        };
    }
    let place = args.results.output.first().map(AsRef::as_ref);
    let path = args.journal.clone().unwrap_or_else(|| beside(place, facts, "endurance.json"));
    let kept = output::plan(&mut output::door(false, [&args.target.target]), &path)?;
    if !path.exists() {
        return Ok((new(subject), Some(kept)));
    }
    let text = input::text(&path, "remove it, and begin anew")?;
    let journal =
        Journal::read(&text, &head(plan, subject)).map_err(|error| unfit(&path, &args.target.target, error))?;
    Ok((journal, Some(kept)))
}

impl Planned {
    /// What it may write, at most; at least a block, as the right to write is asked for also where only reading is left.
    fn budget(&self, args: &Integrity) -> Result<Bytes, Failure> {
        let most = self.writes_at_most().unwrap_or(Bytes(u64::MAX / 4));
        let budget = match args.target.consent.max_write {
            Some(limit) if limit < self.plan.claimed && !self.journal.is_written() => {
                return Err(cannot(format!(
                    "one pass writes {}, which is more than --max-write allows ({limit})\nhint: allow more",
                    self.plan.claimed
                )));
            }
            Some(limit) => limit.min(most),
            None => most,
        };
        Ok(budget.max(self.plan.block))
    }

    /// Of the passes that are left, where everything fails and is written again in pieces; `None`: as many as it takes.
    fn writes_at_most(&self) -> Option<Bytes> {
        if self.journal.is_written() {
            return Some(Bytes::ZERO);
        }
        let passes = self.plan.passes_at_most()?.saturating_sub(self.journal.passes());
        Some(Bytes(self.plan.pass_writes_at_most().get().saturating_mul(u64::from(passes))))
    }
}

/// How long a pass takes, by a rate that is assumed.
fn pass_time(facts: &DeviceFacts) -> (Nanos, ByteRate) {
    let (sequential, _) = assumed_rates(facts.kind);
    (sequential.time_for(facts.capacity) * 2, sequential)
}

/// What is going to be done, before it is done.
fn words(args: &Integrity, facts: &DeviceFacts, planned: &Planned) -> Result<Vec<String>, Failure> {
    let plan = &planned.plan;
    let done = planned.journal.passes();
    let mut lines = Vec::new();
    if !planned.journal.is_new() {
        let left = if planned.journal.is_written() { ", all of them" } else { "" };
        lines.push(format!("going on where {} was stopped: {done} passes are done{left}", args.target.target));
    }
    let (time, rate) = pass_time(facts);
    match plan.passes_at_most() {
        Some(passes) if !planned.journal.is_written() => {
            let left = u64::from(passes.saturating_sub(done));
            let (passes, writes, time) = (counted(left), plan.claimed * left, time * left);
            lines.push(format!("at most {passes} over all of {}: {writes} written and read back", plan.claimed));
            lines.push(format!("takes about {}, assuming {rate}", whole(time)));
        }
        None => {
            lines.push(format!("as many passes over all of {} as it takes, about {} each", plan.claimed, whole(time)));
        }
        Some(_) => {}
    }
    if let Some(limit) = plan.limit {
        let who = match limit.rating {
            Rating::Given => "given by --rated-writes".to_owned(),
            Rating::Assumed => {
                format!("assumed: {} times the capacity; --rated-writes names another", Plan::ASSUMED_CAPACITY_WRITES)
            }
        };
        lines.push(format!(
            "ends when {:.3} % of the rated life of {} is spent ({who})",
            limit.share * 100.0,
            limit.rated
        ));
    }
    if let Some(after) = plan.reread_after {
        lines.push(format!("then left alone for {after}, and read again"));
    }
    Ok(lines)
}

fn counted(passes: u64) -> String {
    if passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") }
}

/// Does it, or goes on with it.
fn worn(
    args: &Integrity,
    planned: Planned,
    (target, grant): (&mut dyn Target, &mut WriteGrant),
    here: Option<Surroundings>,
) -> IntegrityRecord {
    let Planned { plan, mut journal, kept } = planned;
    let mut envelope = envelope::of(Kind::Integrity, "integrity --endurance", &args.target, target, here.as_ref());
    interrupt::arm();
    let path = Path::new(&args.target.target);
    let mut watch = Watcher::new(path, args.results.json, kept.as_ref());
    let stop = endure(&plan, &mut journal, (target, grant), &mut watch);
    watch.bar.finish_and_clear();
    match (&stop, &kept) {
        (StopReason::Complete, Some(kept)) => kept.remove(),
        (_, Some(kept)) => output::talk(&format!("the same command goes on from here ({})", kept.path().display())),
        (_, None) => {}
    }
    let told = journal.told(&plan, &stop);
    envelope.cost = Some(journal.cost());
    envelope.stop = stop;
    envelope::seal(&mut envelope, here.as_ref());
    // The power was never cut: nothing is known of what cuts break.
    let verdict = Verdict { share: (0.0, 1.0), ..Verdict::default() };
    let plan = IntegrityPlan {
        cuts: 0,
        seed: plan.seed,
        offset: Bytes::ZERO,
        length: plan.claimed,
        slow_after: args.slow_after,
        searched: Bytes::ZERO,
        switched_by: None,
    };
    let (cuts, requests) = (Vec::new(), Vec::new());
    IntegrityRecord { envelope, plan, verdict, cuts, requests, under: None, endurance: Some(told) }
}

/// Shows how far it is, keeps the journal every other second, and looks at the device from outside.
struct Watcher<'a> {
    bar: ProgressBar,
    kept: Option<&'a Output>,
    turn: Turn,
    path: &'a Path,
    drawn: Option<std::time::Instant>,
    begun: std::time::Instant,
    /// Where this session began: the pass, and bytes moved of it.
    from: Option<f64>,
}

impl<'a> Watcher<'a> {
    fn new(path: &'a Path, quiet: bool, kept: Option<&'a Output>) -> Watcher<'a> {
        let begun = std::time::Instant::now();
        Watcher { bar: bar("endurance", quiet), kept, turn: Turn::now(), path, drawn: None, begun, from: None }
    }

    /// Says something, unless it did just before.
    fn draw(&mut self, message: impl FnOnce() -> String) {
        if self.bar.is_hidden() || self.drawn.is_some_and(|drawn| drawn.elapsed() < DRAW_EVERY) {
            return;
        }
        self.drawn = Some(std::time::Instant::now());
        self.bar.set_message(message());
        self.bar.tick();
    }
}

impl Watch for Watcher<'_> {
    fn progress(&mut self, progress: Progress) {
        let share = progress.moved.as_f64() / progress.most.as_f64().max(1.0);
        let Some(pass) = progress.pass else { return self.draw(|| format!("read again: {:.0} %", share * 100.0)) };
        let at = f64::from(pass - 1) + share;
        let from = *self.from.get_or_insert(at);
        let per_pass = self.begun.elapsed().as_secs_f64() / (at - from).max(1e-9);
        let left = |to: f64| whole(Nanos((per_pass * (to - at).max(0.0) * 1e9) as u64));
        self.draw(|| match progress.passes {
            _ if at - from < 1e-6 => format!("pass {pass}"),
            Some(passes) => {
                format!("pass {pass} of at most {passes}: {:.0} %, at most {} left", share * 100.0, left(passes.into()))
            }
            None => format!("pass {pass}: {:.0} %, {} left of it", share * 100.0, left(pass.into())),
        });
    }

    fn stop(&mut self) -> bool {
        interrupt::asked()
    }

    fn is_due(&mut self) -> bool {
        let mut due = false;
        self.turn.take(|| due = self.kept.is_some());
        due
    }

    fn keep(&mut self, journal: &Journal) {
        // What cannot be kept now may still be kept later; without a journal it begins anew, and nothing is lost.
        if let (Some(kept), Ok(text)) = (self.kept, journal.text()) {
            let _ = kept.keep(text.as_bytes());
        }
    }

    fn look(&mut self, target: &dyn Target) -> Look {
        let facts = target.facts();
        if facts.simulated {
            return Look { health: facts.claims.health, capacity: Some(facts.capacity) };
        }
        let capacity = match facts.kind {
            DeviceKind::File => std::fs::metadata(self.path).ok().map(|found| Bytes(found.len())),
            // A partition is as large as it is, whatever its disk is.
            _ => {
                disk_under(&SysRoot::live(), self.path).filter(|disk| disk.path == self.path).map(|disk| disk.capacity)
            }
        };
        Look { health: making::health(self.path, facts), capacity }
    }

    fn clock(&mut self, target: &dyn Target) -> Nanos {
        if target.facts().simulated {
            return target.now().since(Instant::ORIGIN);
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(Nanos::ZERO, |since| Nanos(since.as_nanos() as u64))
    }

    fn wait(&mut self, target: &mut dyn Target, until: Nanos) {
        if target.facts().simulated {
            return target.wait_until(Instant::ORIGIN + until);
        }
        let left = until.saturating_sub(self.clock(target));
        output::talk(&format!(
            "left alone for {} more; Ctrl-C ends the waiting, and the same command reads it when the time has passed",
            whole(left)
        ));
        loop {
            let left = until.saturating_sub(self.clock(target));
            if left == Nanos::ZERO || self.stop() {
                return;
            }
            self.draw(|| format!("left alone: {} left", whole(left)));
            std::thread::sleep(DRAW_EVERY.min(Duration::from_nanos(left.get())));
        }
    }
}

fn cannot(why: String) -> Failure {
    Failure::Cannot(anyhow!(why))
}
