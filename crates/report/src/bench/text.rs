//! A run of load on a terminal.

use crate::{Style, foreign, table};
use flashscope_model::bench::{BenchPhase, BenchRecord, PhaseRun};
use flashscope_model::preset::PresetRun;
use flashscope_view::answer;
use flashscope_view::bench::{limits, preset_table, results, side_by_side, summary, words};
use flashscope_view::made;
use flashscope_view::table::Table;
use std::fmt::Write;

/// Columns that a table may take: results are wide, and are better cut by the terminal than wrapped by us.
const WIDTH: usize = 240;
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
        preset_text(&mut text, preset, record.envelope.virtual_time);
    }
    let shown = match &record.preset {
        _ if style.verbose => record.phases.len(),
        Some(_) => 0,
        None => PHASES,
    };
    record.phases.iter().take(shown).for_each(|phase| phase_text(&mut text, phase));
    if record.preset.is_some() {
        let _ = writeln!(text, "\nEvery run of every job is in the record (--json, -o) and in reports (--report).");
    } else if record.phases.len() > shown {
        let _ = writeln!(text, "\n{} more phases: --verbose shows them", record.phases.len() - shown);
    }
    foreign::page(&text).into_owned()
}

fn lines(text: &mut String, table: &Table) {
    for line in table::lines(table, WIDTH) {
        let _ = writeln!(text, "{line}");
    }
}

fn phase_text(text: &mut String, phase: &BenchPhase) {
    let Some(first) = phase.runs.first() else { return };
    let _ = writeln!(text);
    lines(text, &results(phase));
    for job in &first.jobs {
        let _ = writeln!(text, "  {}: {}", job.name, words::job(job));
    }
    let several = phase.runs.len() > 1;
    if several {
        let summary = summary(phase);
        let _ = writeln!(text, "  {}:", summary.caption);
        lines(text, &summary);
    }
    for (number, run) in (1..).zip(&phase.runs) {
        let before = if several { format!("run {number}: ") } else { String::new() };
        run_text(text, run, &before);
    }
}

fn run_text(text: &mut String, run: &PhaseRun, before: &str) {
    for note in words::notes(run) {
        let _ = writeln!(text, "  {before}{note}");
    }
    let _ = writeln!(text, "  {before}{}", words::cached(&run.evidence));
}

fn preset_text(text: &mut String, preset: &PresetRun, simulated: bool) {
    let _ = writeln!(text, "{}: {}", preset.name, preset.title);
    let _ = writeln!(text, "after {}", preset.source);
    let _ = writeln!(text, "{}\n", words::as_defined(preset));
    if let Some(table) = side_by_side(preset) {
        lines(text, &table);
        let _ = writeln!(text);
    }
    lines(text, &preset_table(preset, simulated));
    if let Some(verdict) = words::served_by(preset).filter(|_| !simulated) {
        let _ = writeln!(text, "  device or cache? {}", words::whose(verdict));
    }
    let limits = limits(preset);
    if !limits.rows.is_empty() {
        let _ = writeln!(text);
        lines(text, &limits);
    }
    if let Some(rounds) = &preset.rounds {
        let _ = writeln!(text, "\n{} rounds: {}", rounds.run, rounds.why);
    }
    let _ = writeln!(text, "\nWhat bounds these figures");
    for (name, value) in &preset.bounds {
        let _ = writeln!(text, "  {name:<22} {value}");
    }
    for (job, why) in &preset.left_out {
        let _ = writeln!(text, "left out: {job}: {}", why.lines().next().unwrap_or_default());
    }
    for note in &preset.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if let Some(conclusion) = words::conclusion(preset) {
        let _ = writeln!(text, "\n{conclusion}");
    }
}
