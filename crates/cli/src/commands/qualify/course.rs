//! The course of a qualification: run after run, each kept as soon as it is done, so that a stop at any moment repeats none.

use super::external;
use super::kept;
use super::sides;
use super::states::States;
use super::work::{self, Worker};
use crate::args::QualifyCourse;
use crate::commands::bench::bar;
use crate::error::Failure;
use crate::progress::whole;
use crate::{envelope, interrupt, output};
use anyhow::anyhow;
use flashscope_host::{Folder, Output, Surroundings, SysRoot, sha256};
use flashscope_model::qualification::{Access, FigureValue, Part, QualificationRecord, RowResult, RunDone, RunOutcome};
use flashscope_model::{Envelope, Kind as RecordKind, StopReason};
use flashscope_qualify::schedule::{self, Next, Way};
use flashscope_qualify::{CONTROL, Plan, judge};
use flashscope_units::{Bytes, Nanos};
use std::path::Path;

/// The record of what is done so far, in the directory of the runs.
const JOURNAL: &str = "qualification.json";
/// Runs of the control job in each session of a board.
const CONTROL_RUNS: usize = 3;

/// Whether both sides are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Both,
    Alone,
}

/// Runs that are being done.
pub(super) struct Course<'a> {
    plan: &'a Plan,
    args: &'a QualifyCourse,
    way: Way,
    kind: Kind,
    folder: Folder,
    record: QualificationRecord,
}

/// What came of it.
pub(super) struct Done {
    pub(super) record: QualificationRecord,
    /// Why it could not go on, where it could not.
    pub(super) failure: Option<Failure>,
}

impl<'a> Course<'a> {
    /// Begins, or goes on with what is in the directory of the runs.
    pub(super) fn begin(
        plan: &'a Plan,
        parts: Vec<Part>,
        args: &'a QualifyCourse,
        outputs: &[Output],
        kind: Kind,
    ) -> Result<Course<'a>, Failure> {
        interrupt::arm();
        let folder = folder(args, outputs)?;
        let way = match kind {
            Kind::Both => Way::Turns,
            Kind::Alone => Way::Alone { session: sides::session(&parts[0], args.seed) },
        };
        let fresh = fresh(plan, parts, args, kind);
        let mut record = match std::fs::read_to_string(folder.path().join(JOURNAL)) {
            Ok(text) => resumed(&text, fresh, folder.path())?,
            Err(_) => fresh,
        };
        if let Some((name, text)) = external::table(args)? {
            let hash = sha256(text.as_bytes());
            let told = external::of_table(&text, &name, plan, &record.parts, &hash)?;
            record.runs.retain(|run| run.record.as_ref().is_none_or(|kept| kept.file != external::TABLE));
            record.runs.extend(told);
            write(&folder, external::TABLE, text.as_bytes())?;
        }
        Ok(Course { plan, args, way, kind, folder, record })
    }

    /// Does what is left to do.
    pub(super) fn run(mut self) -> Result<Done, Failure> {
        let bar = bar("qualify", self.args.results.json);
        let mut states = States::new(self.record.parts.len());
        let mut failure = None;
        let stop = loop {
            if interrupt::asked() {
                break StopReason::Interrupted;
            }
            if let Some(stop) = self.spent() {
                break stop;
            }
            let next = match self.next() {
                Some(next) => next,
                None => break StopReason::Complete,
            };
            bar.set_message(self.said(&next));
            bar.tick();
            match self.one(&next, &mut states) {
                Ok(Some(run)) => self.record.runs.push(run),
                Ok(None) => break StopReason::Interrupted,
                Err(why) => {
                    failure = Some(why);
                    break StopReason::Failing;
                }
            }
            self.keep()?;
        };
        bar.finish_and_clear();
        if let Some(why) = &failure {
            self.record.notes.push(format!("it stopped: {}", first_line(&why.to_string())));
        }
        self.record.envelope.stop = stop;
        let here = place(&self.record.parts);
        envelope::seal(&mut self.record.envelope, here.as_ref());
        self.keep()?;
        if self.kind == Kind::Alone {
            self.record.notes.extend(sessions_left(&self));
        }
        Ok(Done { record: self.record, failure })
    }

    /// The control job first, in each session of a board.
    fn next(&self) -> Option<Upcoming> {
        if let Way::Alone { session } = &self.way
            && self.record.parts[0].access != Access::Simulated
        {
            let own = self.record.runs.iter().filter(|run| run.workload == CONTROL && run.session == *session);
            let done = own.count();
            let next = schedule::next(self.plan, &self.record.parts, &self.record.runs, &self.way, self.args.seed);
            return match (done < CONTROL_RUNS, next) {
                (_, None) => None,
                (true, Some(_)) => Some(Upcoming::Control(done as u32)),
                (false, Some(next)) => Some(Upcoming::Run(next)),
            };
        }
        schedule::next(self.plan, &self.record.parts, &self.record.runs, &self.way, self.args.seed).map(Upcoming::Run)
    }

    /// One run; `None` where the operator stopped it.
    fn one(&self, next: &Upcoming, states: &mut States) -> Result<Option<RunDone>, Failure> {
        let next = match next {
            Upcoming::Control(number) => return self.control(*number).map(Some),
            Upcoming::Run(next) => next,
        };
        let part = &self.record.parts[next.part];
        sides::still(part)?;
        let session = sides::session(part, self.args.seed);
        let worker = Worker { plan: self.plan, args: self.args, folder: &self.folder, number: self.record.runs.len() };
        let worked = worker.run(next, part, states)?;
        if interrupt::asked() && !matches!(worked.outcome, RunOutcome::Done { .. }) {
            return Ok(None);
        }
        // Another part may have been put in while it ran: then nobody knows whose figures these are.
        sides::still(part)?;
        Ok(Some(RunDone {
            part: next.part,
            workload: self.plan.workloads[next.workload].name.clone(),
            session,
            block: next.block,
            place: next.place,
            outcome: worked.outcome,
            replayed: worked.replayed,
            record: worked.record,
            took: worked.took,
            written: worked.written,
        }))
    }

    /// A job that needs the host alone, the same on every board: where it takes another time, the boards differ.
    fn control(&self, number: u32) -> Result<RunDone, Failure> {
        let took = work::control()?;
        let figure = FigureValue { name: CONTROL.to_owned(), unit: "ns".to_owned(), value: took.as_f64() };
        Ok(RunDone {
            part: 0,
            workload: CONTROL.to_owned(),
            session: sides::session(&self.record.parts[0], self.args.seed),
            block: None,
            place: number,
            outcome: RunOutcome::Done { figures: vec![figure], answers: Vec::new() },
            replayed: false,
            record: None,
            took,
            written: Bytes::ZERO,
        })
    }

    /// What may be spent is spent: no block begins then, and one that was begun is finished.
    fn spent(&self) -> Option<StopReason> {
        let unfinished = self.record.runs.iter().rfind(|run| run.block.is_some());
        let begun = unfinished.is_some_and(|last| {
            let own = self.record.runs.iter().filter(|run| run.workload == last.workload && run.block == last.block);
            own.count() < 4
        });
        let took: Nanos = self.record.runs.iter().map(|run| run.took).sum();
        let most = self.args.max_time.or(self.plan.time);
        let written =
            |part| -> Bytes { self.record.runs.iter().filter(|run| run.part == part).map(|run| run.written).sum() };
        let too_much = |most: Bytes| (0..self.record.parts.len()).any(|part| written(part) >= most);
        let spent = most.is_some_and(|most| took >= most) || self.args.consent.max_write.is_some_and(too_much);
        (spent && !begun).then_some(StopReason::BudgetSpent)
    }

    fn said(&self, next: &Upcoming) -> String {
        let Upcoming::Run(next) = next else { return "control job".to_owned() };
        let workload = &self.plan.workloads[next.workload].name;
        let part = &self.record.parts[next.part];
        let rows = judge(&self.record.plan, &self.record.parts, &self.record.runs).rows;
        let open = rows.iter().filter(|row| matches!(row.result, RowResult::Undecided(_))).count();
        let written: Bytes = self.record.runs.iter().map(|run| run.written).sum();
        let block =
            next.block.map_or(String::new(), |block| format!(", block {} of at most {}", block + 1, self.plan.blocks));
        format!(
            "{workload}{block} ({}); {} of {} decided; {written} written{}",
            part.label,
            rows.len() - open,
            rows.len(),
            self.left().map_or_else(String::new, |left| format!("; at most {} left", whole(left)))
        )
    }

    /// Time that is left at most: runs that may come, at the pace of those that were. `None` before every workload has run.
    fn left(&self) -> Option<Nanos> {
        let most = schedule::most_runs(self.plan, &self.record.parts, &self.way);
        let mut left = 0.0;
        for (workload, most) in self.plan.workloads.iter().zip(most) {
            let own: Vec<&RunDone> = self.record.runs.iter().filter(|run| run.workload == workload.name).collect();
            if own.iter().any(|run| matches!(run.outcome, RunOutcome::Unsupported { .. })) {
                continue;
            }
            let took: Nanos = own.iter().map(|run| run.took).sum();
            let mean = (!own.is_empty()).then(|| took.as_f64() / own.len() as f64)?;
            left += mean * f64::from(most.saturating_sub(own.len() as u32));
        }
        let spent: Nanos = self.record.runs.iter().map(|run| run.took).sum();
        let limit = self.args.max_time.or(self.plan.time).map(|most| most.saturating_sub(spent));
        let left = Nanos(left as u64);
        Some(limit.map_or(left, |limit| limit.min(left)))
    }

    fn keep(&self) -> Result<(), Failure> {
        write(&self.folder, JOURNAL, flashscope_record::to_json(&self.record).as_bytes())
    }
}

/// What is done next.
enum Upcoming {
    Control(u32),
    Run(Next),
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Sessions that the plan still asks for.
fn sessions_left(course: &Course<'_>) -> Option<String> {
    let mut seen: Vec<&str> = course.record.runs.iter().map(|run| run.session.as_str()).collect();
    seen.sort_unstable();
    seen.dedup();
    let left = (course.plan.sessions as usize).saturating_sub(seen.len());
    let simulated = course.record.parts[0].access == Access::Simulated;
    (left > 0).then(|| match simulated {
        true => {
            format!("{left} sessions more of the plan's {}: run it again with another --seed", course.plan.sessions)
        }
        false => format!(
            "{left} sessions more of the plan's {}: power it down, and run the same command again",
            course.plan.sessions
        ),
    })
}

fn folder(args: &QualifyCourse, outputs: &[Output]) -> Result<Folder, Failure> {
    let made = match (&args.runs, outputs.first()) {
        (Some(path), _) => Folder::kept(path),
        (None, Some(output)) => Folder::kept(&output.path().with_extension("runs")),
        (None, None) => {
            output::talk("the records of the runs are not kept: name a record for that, -o FILE.json");
            Folder::for_a_while("qualify")
        }
    };
    made.map_err(crate::target::failure)
}

/// Writes a file in the directory of the runs whole, or leaves what was there.
pub(super) fn write(folder: &Folder, name: &str, content: &[u8]) -> Result<(), Failure> {
    // What is in the directory of the runs is ours, whatever form it has.
    let mut door = output::door(true, None::<&Path>);
    let output = output::plan(&mut door, &folder.path().join(name))?;
    output.keep(content).map_err(crate::target::failure)
}

fn place(parts: &[Part]) -> Option<Surroundings> {
    let real = parts.iter().find(|part| part.access != Access::Simulated)?;
    Some(Surroundings::of(&SysRoot::live(), Path::new(&real.target)))
}

/// A record in which nothing was run yet.
fn fresh(plan: &Plan, parts: Vec<Part>, args: &QualifyCourse, kind: Kind) -> QualificationRecord {
    let typed: Vec<&str> = parts.iter().map(|part| part.target.as_str()).collect();
    let command = match kind {
        Kind::Both => format!("qualify {}", plan.name),
        Kind::Alone => format!("qualify run {}", plan.name),
    };
    let typed = typed.join(" ");
    let envelope = match place(&parts) {
        Some(here) => {
            let real = parts.iter().find(|part| part.access != Access::Simulated).map_or("", |part| &part.target);
            Envelope { target: typed, ..envelope::begin(RecordKind::Qualification, command, real, &here) }
        }
        None => envelope::simulated(RecordKind::Qualification, command, typed, args.seed),
    };
    QualificationRecord {
        envelope,
        plan: plan.facts(args.seed),
        parts,
        runs: Vec::new(),
        rows: Vec::new(),
        controls: Vec::new(),
        verdict: None,
        differences: Vec::new(),
        anyway: false,
        causes: Vec::new(),
        notes: Vec::new(),
        seal: None,
    }
}

/// What was done before, if it was done for the same plan on the same parts.
fn resumed(text: &str, fresh: QualificationRecord, folder: &Path) -> Result<QualificationRecord, Failure> {
    let shown = folder.display();
    let hint = "hint: name another directory with --runs, or remove this one to begin anew";
    let before: QualificationRecord =
        flashscope_record::from_json(text).map_err(|error| anyhow!("{shown}/{JOURNAL}: {error}\n{hint}"))?;
    let other = |what: &str| Failure::Cannot(anyhow!("{shown} holds the runs of another {what}\n{hint}"));
    if before.plan.text != fresh.plan.text || before.plan.quick != fresh.plan.quick {
        return Err(other("plan"));
    }
    if before.plan.seed != fresh.plan.seed && before.parts.iter().any(|part| part.access != Access::Simulated) {
        return Err(other("seed"));
    }
    let same =
        |a: &Part, b: &Part| (a.role, &a.label, &a.identity, a.access) == (b.role, &b.label, &b.identity, b.access);
    if before.parts.len() != fresh.parts.len() || !before.parts.iter().zip(&fresh.parts).all(|(a, b)| same(a, b)) {
        return Err(other("part"));
    }
    if kept::check(&before.runs, folder)? > 0 {
        return Err(Failure::Cannot(anyhow!("{shown} lacks records of runs that were done\n{hint}")));
    }
    output::talk(&format!("goes on with {} runs that are in {shown}", before.runs.len()));
    Ok(QualificationRecord { runs: before.runs, ..fresh })
}
