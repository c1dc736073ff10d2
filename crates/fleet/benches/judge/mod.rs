//! Rows of figures as rows of targets: what few cases cannot decide is left out of the quick part.

use flashscope_fleet::differences::{Row, Target};
use flashscope_testkit::{Targets, may_be_chance};
use std::io::{self, Write};

/// Prints the rows of one kind of cases.
pub(crate) fn print(targets: &mut Targets<impl Write>, of: &str, rows: &[Row], quick: bool) -> io::Result<()> {
    for row in rows {
        let what = format!("{of}: {}", row.what);
        let Some(met) = row.is_met() else {
            match row.target {
                Target::Beside => println!("{what} | | {} | beside", row.found()),
                _ => targets.left_out(&what, &row.found())?,
            }
            continue;
        };
        if quick && row.many {
            targets.left_out(&what, "too few cases")?;
            continue;
        }
        let met = match (row.target, row.share) {
            (Target::AtMost(most), Some(share)) if quick => may_be_chance(share.count, share.all, most),
            (Target::AtLeast(least), Some(share)) if quick => {
                may_be_chance(share.all - share.count, share.all, 1.0 - least)
            }
            _ => met,
        };
        targets.row(&what, &row.wanted(), &row.found(), met)?;
    }
    Ok(())
}
