//! A comparison as text: the answer, a table, and what must be known of it.

use super::{cut_short, title};
use crate::markdown::table as markdown_table;
use crate::terminal::wrap;
use crate::{Style, foreign, table};
use flashscope_model::comparison::{ComparisonRecord, Group};
use flashscope_view::Room;
use flashscope_view::comparison::{doubts, how, notes, sentences, table as figures};
use flashscope_view::made;
use std::fmt::Write;

/// Reasons for not knowing that are told unless all of the evidence is asked for.
const DOUBTS: usize = 5;
/// From this width on, the table has all its columns.
const WIDE: usize = 100;

/// The whole report for a terminal.
pub fn terminal(record: &ComparisonRecord, style: Style) -> String {
    let mut text = format!("{}\n", title(record));
    let mut say = |line: &str| {
        for line in wrap(line, style.width.saturating_sub(2)) {
            let _ = writeln!(text, "  {line}");
        }
    };
    if let Some(why) = cut_short(record) {
        say(&format!("cut short: {why}"));
    }
    made::state(&record.envelope).iter().for_each(|state| say(&format!("state: {state}")));
    for group in &record.groups {
        heading(group).iter().for_each(|heading| say(heading));
        sentences(group).iter().for_each(|sentence| say(sentence));
    }
    let room = if style.width >= WIDE { Room::Wide } else { Room::Narrow };
    for group in &record.groups {
        let _ = writeln!(text);
        heading(group).into_iter().for_each(|heading| {
            let _ = writeln!(text, "{heading}");
        });
        for line in table::lines(&figures(group, room), style.width) {
            let _ = writeln!(text, "{line}");
        }
        let mut say = |line: &str| {
            for (at, line) in wrap(line, style.width.saturating_sub(4)).iter().enumerate() {
                let _ = writeln!(text, "{}{line}", if at == 0 { "  " } else { "    " });
            }
        };
        let doubts = doubts(group);
        let shown = if style.verbose { doubts.len() } else { DOUBTS.min(doubts.len()) };
        doubts[..shown].iter().for_each(|doubt| say(doubt));
        if doubts.len() > shown {
            say(&format!("{} more reasons: --verbose shows them", doubts.len() - shown));
        }
    }
    let _ = writeln!(text);
    let mut said = Vec::new();
    for line in record.groups.iter().map(|group| how(&group.comparison)).chain(notes(record)) {
        // Groups of one table have most of this in common.
        if !said.contains(&line) {
            for (at, part) in wrap(&line, style.width.saturating_sub(4)).iter().enumerate() {
                let _ = writeln!(text, "{}{part}", if at == 0 { "  " } else { "    " });
            }
            said.push(line);
        }
    }
    foreign::page(&text).into_owned()
}

/// Of several groups the name of what was varied.
fn heading(group: &Group) -> Option<String> {
    group.factor.as_ref().map(|factor| format!("{factor}:"))
}

/// The same as Markdown.
pub fn markdown(record: &ComparisonRecord) -> String {
    let escaped = foreign::markdown;
    let mut text = format!("# {}\n", escaped(&title(record)));
    if let Some(why) = cut_short(record) {
        let _ = write!(text, "\n**Cut short**: {}\n", escaped(&why));
    }
    for group in &record.groups {
        if let Some(factor) = &group.factor {
            let _ = write!(text, "\n## {}\n", escaped(factor));
        }
        let line = |line: &String| format!("- {}\n", escaped(line));
        let _ = write!(text, "\n{}", sentences(group).iter().map(line).collect::<String>());
        let _ = write!(text, "\n{}\n", markdown_table(&figures(group, Room::Wide)));
        text.extend(doubts(group).iter().map(line));
        let _ = writeln!(text, "- {}", escaped(&how(&group.comparison)));
    }
    text.push_str("\n## Notes\n\n");
    text.extend(notes(record).iter().map(|note| format!("- {}\n", escaped(note))));
    text
}
