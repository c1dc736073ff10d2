//! The report as Markdown, for an issue or a wiki.

use crate::foreign::{self, markdown as markdown_text};
use flashscope_model::RunRecord;
use flashscope_model::finding::Severity;
use flashscope_view::advice::instruction;
use flashscope_view::answer::{self, Answer};
use flashscope_view::card::{Row, Tone, card};
use flashscope_view::made;
use flashscope_view::table::{Cell, Room, Table, performance, remarks};

/// The whole report of a run as Markdown.
pub fn markdown(run: &RunRecord) -> String {
    let card = card(run);
    let mut text = format!("# {}\n\n", markdown_text(&card.title));
    text.extend(card.rows.iter().map(row));
    text.push_str("\n## The run\n\n");
    let mut facts = Vec::new();
    let claims = answer::claims(run);
    facts.extend((!claims.is_empty()).then(|| format!("Claims: {}", claims.join(", "))));
    facts.extend(answer::state_word(&run.observations.runs).map(|state| format!("State: {state}")));
    facts.extend(made::state(&run.envelope).map(|state| format!("Brought into a state: {state}")));
    facts.extend(answer::path(run).map(|path| format!("Path: {path}")));
    facts.extend(answer::cut_short(&run.envelope.stop).map(|why| format!("**Cut short**: {why}")));
    facts.push(format!("Cost: {}", answer::cost(run)));
    text.extend(facts.iter().map(|fact| format!("- {}\n", markdown_text(fact))));

    text.push_str(&format!("\n## {}\n\n", answer::heading(run)));
    text.push_str(&table(&geometry(&answer::of_run(run))));
    if !run.findings.performance.is_empty() {
        let performance = performance(&run.findings.performance, Room::Page);
        text.push_str(&format!(
            "\n## Performance\n\n{}.\n\n{}",
            markdown_text(&performance.caption),
            table(&performance)
        ));
        let changes = remarks(&run.findings.performance);
        // What follows a table without a blank line would be a row of it.
        text.push_str(if changes.is_empty() { "" } else { "\n" });
        text.extend(changes.iter().map(|change| format!("- {}\n", markdown_text(change))));
    }
    if !run.findings.advice.is_empty() {
        text.push_str("\n## What to do with it\n\n");
        let advice = run.findings.advice.iter();
        text.extend(advice.map(|item| {
            let parts = instruction(&item.text);
            let command = parts.command.map(|command| format!("`{}`", foreign::markdown_code(command)));
            let said: Vec<String> = parts.words.map(markdown_text).into_iter().chain(command).collect();
            let (topic, because) = (markdown_text(&item.topic), markdown_text(&item.because));
            format!("- **{topic}**: {} (because {because})\n", said.join(": "))
        }));
    }
    notes(run, &mut text);
    text
}

/// One line of the card.
fn row(row: &Row) -> String {
    let text = match row.tone {
        Tone::Command => format!("`{}`", foreign::markdown_code(&row.text)),
        Tone::Plain | Tone::Warning | Tone::Open => markdown_text(&row.text),
    };
    format!("- **{}**: {text}\n", row.name)
}

fn geometry(answers: &[Answer]) -> Table {
    let row = |answer: &Answer| {
        let figure = answer.verdict();
        let confidence = answer.confidence.map_or(Cell::Absent, |confidence| Cell::Text(answer::percent(confidence)));
        let why = [Some(answer.why.clone()).filter(|why| !why.is_empty()), answer.others()];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        vec![Cell::Text(answer.name.to_owned()), Cell::Text(figure), confidence, Cell::Text(why)]
    };
    Table {
        caption: String::new(),
        columns: ["finding", "figure", "confidence", "evidence"].map(str::to_owned).into(),
        rows: answers.iter().map(row).collect(),
    }
}

fn notes(run: &RunRecord, text: &mut String) {
    let mut notes: Vec<String> =
        answer::warnings(run).iter().map(|warning| format!("**warning**: {}", markdown_text(warning))).collect();
    notes.extend(run.findings.notes.iter().map(|note| {
        let grave = if note.kind.severity() == Severity::Warning { "**warning**: " } else { "" };
        let hint = note.hint.as_ref().map_or(String::new(), |hint| format!(" (hint: {})", markdown_text(hint)));
        format!("{grave}{}{hint}", markdown_text(&note.text))
    }));
    if !notes.is_empty() {
        text.push_str("\n## Notes\n\n");
        text.extend(notes.iter().map(|note| format!("- {note}\n")));
    }
}

pub(crate) fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(table.columns.iter().map(|head| markdown_text(head)).collect());
    let is_text = |at: usize| table.rows.iter().any(|row| row[at].is_text());
    text.push_str(&line(
        (0..table.columns.len()).map(|at| if is_text(at) { "---" } else { "---:" }.to_owned()).collect(),
    ));
    text.extend(table.rows.iter().map(|row| line(row.iter().map(|cell| markdown_text(&cell.to_string())).collect())));
    text
}
