//! A sweep as text: what each knob does, a table per figure, and what must be known of it.

use crate::markdown::table as markdown_table;
use crate::terminal::wrap;
use crate::{Style, foreign, table};
use flashscope_model::sweep::SweepRecord;
use flashscope_view::comparison::how;
use flashscope_view::made;
use flashscope_view::sweep::{effects, notes, sentences, tables, title};
use flashscope_view::{Table, answer};
use std::fmt::Write;

/// The whole report for a terminal.
pub fn terminal(record: &SweepRecord, style: Style) -> String {
    let mut text = String::new();
    for (at, line) in wrap(&title(record), style.width).iter().enumerate() {
        let _ = writeln!(text, "{}{line}", if at == 0 { "" } else { "  " });
    }
    if let Some(why) = answer::cut_short(&record.comparison.envelope.stop) {
        say(&mut text, &format!("cut short: {why}"), style);
    }
    let made = made::state(&record.comparison.envelope);
    made.iter().for_each(|state| say(&mut text, &format!("state: {state}"), style));
    sentences(record).iter().for_each(|sentence| say(&mut text, sentence, style));
    for table in all_tables(record) {
        let _ = writeln!(text);
        say(&mut text, &table.caption, style);
        for line in table::lines(&table, style.width) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text);
    let how = record.comparison.groups.first().map(|group| how(&group.comparison));
    how.into_iter().chain(notes(record)).for_each(|line| say(&mut text, &line, style));
    foreign::page(&text).into_owned()
}

fn say(text: &mut String, line: &str, style: Style) {
    for (at, part) in wrap(line, style.width.saturating_sub(4)).iter().enumerate() {
        let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
    }
}

fn all_tables(record: &SweepRecord) -> Vec<Table> {
    tables(record).into_iter().chain(effects(record)).collect()
}

/// The same as Markdown.
pub fn markdown(record: &SweepRecord) -> String {
    let escaped = foreign::markdown;
    let line = |line: &String| format!("- {}\n", escaped(line));
    let mut text = format!("# {}\n", escaped(&title(record)));
    if let Some(why) = answer::cut_short(&record.comparison.envelope.stop) {
        let _ = write!(text, "\n**Cut short**: {}\n", escaped(&why));
    }
    let _ = write!(text, "\n{}", sentences(record).iter().map(line).collect::<String>());
    for table in all_tables(record) {
        let _ = write!(text, "\n## {}\n\n{}\n", escaped(&table.caption), markdown_table(&table));
    }
    text.push_str("\n## Notes\n\n");
    let how = record.comparison.groups.first().map(|group| how(&group.comparison));
    text.extend(how.iter().chain(&notes(record)).map(line));
    text
}
