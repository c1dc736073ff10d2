//! Whether a log breaks off: amid a row, or with a table that is shorter than it was to be.

use super::heading::Test;
use super::table::{Body, Table};
use flashscope_units::Bytes;

/// Marks the last table of a text where it was cut short, and says by what that shows.
pub(super) fn judge(text: &str, tables: &mut [Table]) -> Option<String> {
    let (last, before) = tables.split_last_mut()?;
    let lines = format!("the last table (lines {}–{})", last.first_line, last.last_line);
    if let (Some((_, end)), Some(asked)) = (ends(&last.body), asked_for(last))
        && end > asked
    {
        last.cut = true;
        return Some(format!("{lines} ends at {end}, its command asks for rows down to {asked}: cut short"));
    }
    if let Some((end, usual)) = shorter_than_the_one_before(last, before) {
        last.cut = true;
        return Some(format!("{lines} ends at {end}, the one before it at {usual}: cut short"));
    }
    let broken = broken_off(text)?;
    // Amid a heading no table is open, and the one above it is whole.
    last.cut |= broken == Broken::Row(true);
    Some("the log ends amid a line: cut short".to_owned())
}

/// What kind of line a text ends amid, and for a row whether one of the same table stands above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Heading,
    Row(bool),
}

/// A row ends with a unit of time or speed, a heading with a mark; what has no line end and neither is a part of one.
fn broken_off(text: &str) -> Option<Broken> {
    let mut lines = text.rsplit(['\n', '\r']).map(|line| line.trim_matches([' ', '\t', '>', '|']));
    let line = lines.next().filter(|line| !line.is_empty())?;
    let above = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let align = |line: &str| line.starts_with("align") || line.starts_with("write align");
    let begins_align = "align ".starts_with(line) || "write align ".starts_with(line);
    let rates = |line: &str| line.ends_with("/s") && line.starts_with(|c: char| c.is_ascii_digit());
    if line.starts_with("===") && !line.ends_with("==") {
        Some(Broken::Heading)
    } else if (align(line) && !(line.contains("diff") && line.ends_with('s'))) || (begins_align && align(above)) {
        Some(Broken::Row(align(above)))
    } else if rates(above) && line.starts_with(|c: char| c.is_ascii_digit()) && !line.ends_with("/s") {
        Some(Broken::Row(true))
    } else {
        None
    }
}

/// The first and the last size of a table whose rows fall.
fn ends(body: &Body) -> Option<(Bytes, Bytes)> {
    match body {
        Body::Align { rows, .. } => Some((rows.first()?.0, rows.last()?.0)),
        Body::Rates(rows) => Some((rows.first()?.block, rows.last()?.block)),
        Body::Interval(_) | Body::Scatter(_) => None,
    }
}

/// The size that the last row of a table has by its command: reads of half of it still straddle the last alignment.
fn asked_for(table: &Table) -> Option<Bytes> {
    match &table.body {
        Body::Align { .. } => {
            table.context.block(|command| command.align || command.write_align).map(|block| block * 2)
        }
        Body::Rates(_) if table.context.heading.test == Some(Test::Program) => None,
        Body::Rates(_) => table.context.block(|command| command.open_au || command.find_fat),
        Body::Interval(_) | Body::Scatter(_) => None,
    }
}

/// Where a table without a command ends, and where the last one of the same test did that began alike.
fn shorter_than_the_one_before(last: &Table, before: &[Table]) -> Option<(Bytes, Bytes)> {
    let (first, end) = ends(&last.body).filter(|_| last.context.command.is_none())?;
    let same_test = |other: &&Table| {
        let same_body = match (&last.body, &other.body) {
            (Body::Align { direction, .. }, Body::Align { direction: known, .. }) => direction == known,
            (Body::Rates(_), Body::Rates(_)) => true,
            _ => false,
        };
        same_body && last.context.heading.test == other.context.heading.test && other.context.command.is_none()
    };
    let (from, usual) = before.iter().rev().find(same_test).and_then(|other| ends(&other.body))?;
    (from == first && usual < end).then_some((end, usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_breaks_off_amid_a_row_or_a_heading() {
        let check = |text: &str, expect: Option<Broken>| assert_eq!(broken_off(text), expect, "{text}");
        let row = "align 4096\tpre 331µs\ton 330µs\tpost 331µs\tdiff 690ns";
        check(row, None);
        check(&format!("{row}\nali"), Some(Broken::Row(true)));
        check(&format!("{row}\nalign 2048\tpre 331µs"), Some(Broken::Row(true)));
        check(&format!("{row}\nalign 2048\tpre 331µs\ton 330µs\tpost 331µs\tdi"), Some(Broken::Row(true)));
        check(&format!("{row}\nalign 2048\tpre 331µs\n"), None);
        check("4MiB 10M/s", None);
        check("4MiB 10M/s\n2MiB 9.", Some(Broken::Row(true)));
        check("4MiB 10M/s\n2MiB 9.1M/s  ", None);
        check("4MiB 10M/s\n2MiB 9.1M/s\n======= AU=2, lin", Some(Broken::Heading));
        check("4MiB 10M/s\n2MiB 9.1M/s\n======= AU=2, linear access =======", None);
        check("0.015625\t0.039529\n0.031250\t0.0395", None);
        check("a line of prose", None);
        check("4MiB    4.14M/s  8.52M/s  \n2MiB    4.28M/s  4.", Some(Broken::Row(true)));
    }
}
