//! A run of load on a terminal.

use crate::terminal::wrap;
use crate::{Style, foreign, table};
use flashscope_model::bench::{BenchPhase, BenchRecord, PhaseRun};
use flashscope_model::preset::PresetRun;
use flashscope_view::answer;
use flashscope_view::bench::{limits, preset_table, results, side_by_side, summary, words};
use flashscope_view::made;
use flashscope_view::table::Table;
use std::fmt::Write;

/// Phases of which every figure is shown unless all of the evidence is asked for; of more (the cells of a matrix) the
/// preset's figures say enough.
const PHASES: usize = 24;

/// The whole report: what it was for where it followed a definition, then a table per phase and what must be known of it.
pub fn terminal(record: &BenchRecord, style: Style) -> String {
    let mut text = String::new();
    let name = record.envelope.subject();
    let time = if record.envelope.virtual_time { "   virtual time" } else { "" };
    // What was named by its path is not named twice.
    let target = if name == record.envelope.target { String::new() } else { format!("   {}", record.envelope.target) };
    let _ = writeln!(text, "{name}{target}{time}");
    if let Some(why) = answer::cut_short(&record.envelope.stop) {
        let _ = writeln!(text, "cut short: {why}");
    }
    if let Some(state) = made::state(&record.envelope) {
        let _ = writeln!(text, "state: {state}");
        let certificate = record.envelope.state.as_ref().and_then(|state| state.made.as_ref());
        for line in certificate.iter().filter(|_| style.verbose).flat_map(|made| made::details(made)) {
            let _ = writeln!(text, "  {line}");
        }
    }
    if let Some(preset) = &record.preset {
        preset_text(&mut text, preset, record.envelope.virtual_time, style.width);
    }
    let shown = match &record.preset {
        _ if style.verbose => record.phases.len(),
        Some(_) => 0,
        None => PHASES,
    };
    record.phases.iter().take(shown).for_each(|phase| phase_text(&mut text, phase, style.width));
    if record.preset.is_some() {
        let _ = writeln!(text, "\nEvery run of every job is in the record (--json, -o) and in reports (--report).");
    } else if record.phases.len() > shown {
        let _ = writeln!(text, "\n{} more phases: --verbose shows them", record.phases.len() - shown);
    }
    foreign::page(&text).into_owned()
}

fn lines(text: &mut String, table: &Table, width: usize) {
    for line in table::lines(table, width) {
        let _ = writeln!(text, "{line}");
    }
}

/// A sentence, broken at blanks; lines after its first stand further in.
fn sentence(text: &mut String, indent: usize, sentence: &str, width: usize) {
    for (at, line) in wrap(sentence, width.saturating_sub(indent + 2)).iter().enumerate() {
        let more = if at == 0 { 0 } else { 2 };
        let _ = writeln!(text, "{:1$}{line}", "", indent + more);
    }
}

/// A table without a column that says the same in every row, and what it says.
fn without_constant(mut table: Table, column: &str) -> (Table, Option<String>) {
    let Some(at) = table.columns.iter().position(|head| head == column) else { return (table, None) };
    let said = table.rows.first().map(|row| row[at].to_string());
    if said.is_none() || table.rows.iter().any(|row| Some(row[at].to_string()) != said) {
        return (table, None);
    }
    table.columns.remove(at);
    table.rows.iter_mut().for_each(|row| drop(row.remove(at)));
    (table, said)
}

/// The limits, and why each verdict is what it is: in a column, or below where that has no room.
fn limits_text(text: &mut String, preset: &PresetRun, width: usize) {
    let table = limits(preset);
    if table.rows.is_empty() {
        return;
    }
    let _ = writeln!(text);
    let widest = |at: usize| table.rows.iter().map(|row| row[at].to_string().chars().count()).max().unwrap_or(0) + 2;
    if (0..table.columns.len()).map(widest).sum::<usize>() < width {
        return lines(text, &table, width);
    }
    let (why, figure) = (table.columns.len() - 1, 0);
    let mut reasons: Vec<String> = Vec::new();
    for row in &table.rows {
        let reason = format!("{}: {}", row[figure], row[why]);
        reasons.extend((!reasons.contains(&reason)).then_some(reason));
    }
    let mut narrow = table;
    narrow.columns.remove(why);
    narrow.rows.iter_mut().for_each(|row| drop(row.remove(why)));
    lines(text, &narrow, width);
    reasons.iter().for_each(|reason| sentence(text, 2, reason, width));
}

fn phase_text(text: &mut String, phase: &BenchPhase, width: usize) {
    let Some(first) = phase.runs.first() else { return };
    let _ = writeln!(text);
    let (table, timed) = without_constant(results(phase), "latency");
    lines(text, &table, width);
    for job in &first.jobs {
        sentence(text, 2, &format!("{}: {}", job.name, words::job(job)), width);
    }
    if let Some(timed) = timed {
        let _ = writeln!(text, "  times are latency ({timed})");
    }
    let several = phase.runs.len() > 1;
    if several {
        let summary = summary(phase);
        sentence(text, 2, &format!("{}:", summary.caption), width);
        lines(text, &summary, width);
    }
    for (number, run) in (1..).zip(&phase.runs) {
        let before = if several { format!("run {number}: ") } else { String::new() };
        run_text(text, run, &before, width);
    }
}

fn run_text(text: &mut String, run: &PhaseRun, before: &str, width: usize) {
    for note in words::notes(run) {
        sentence(text, 2, &format!("{before}{note}"), width);
    }
    sentence(text, 2, &format!("{before}{}", words::cached(&run.evidence)), width);
}

fn preset_text(text: &mut String, preset: &PresetRun, simulated: bool, width: usize) {
    sentence(text, 0, &format!("{}: {}", preset.name, preset.title), width);
    sentence(text, 0, &format!("after {}", preset.source), width);
    sentence(text, 0, &words::as_defined(preset), width);
    let _ = writeln!(text);
    if let Some(table) = side_by_side(preset) {
        lines(text, &table, width);
        let _ = writeln!(text);
    }
    lines(text, &preset_table(preset, simulated), width);
    if let Some(verdict) = words::served_by(preset).filter(|_| !simulated) {
        let _ = writeln!(text, "  device or cache? {}", words::whose(verdict));
    }
    limits_text(text, preset, width);
    if let Some(rounds) = &preset.rounds {
        let _ = writeln!(text);
        sentence(text, 0, &format!("{} rounds: {}", rounds.run, rounds.why), width);
    }
    let _ = writeln!(text, "\nWhat bounds these figures");
    for (name, value) in &preset.bounds {
        for (at, line) in wrap(value, width.saturating_sub(25)).iter().enumerate() {
            let _ = writeln!(text, "  {:<22} {line}", if at == 0 { name } else { "" });
        }
    }
    for (job, why) in &preset.left_out {
        sentence(text, 0, &format!("left out: {job}: {}", why.lines().next().unwrap_or_default()), width);
    }
    for note in &preset.notes {
        sentence(text, 0, &format!("note: {note}"), width);
    }
    if let Some(conclusion) = words::conclusion(preset) {
        let _ = writeln!(text);
        sentence(text, 0, &conclusion, width);
    }
}
