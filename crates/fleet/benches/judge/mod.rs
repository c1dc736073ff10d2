//! What a program that judges a fleet is asked for, and rows of figures as rows of targets: what few cases cannot decide is left
//! out of the quick part.

use flashscope_fleet::differences::{Row, Target};
use flashscope_testkit::{Targets, may_be_chance};
use std::io::{self, Write};
use std::num::ParseIntError;

/// What a program was asked for.
pub(crate) struct Asked {
    /// The part that the tests run.
    pub(crate) quick: bool,
    pub(crate) cases: u32,
    pub(crate) seed: u64,
}

impl Asked {
    /// From the command line; `word` names how many cases, where not as many as are usual in the quick part and in all of it.
    ///
    /// # Errors
    /// Where a number is none.
    pub(crate) fn read(word: &str, quickly: u32, usually: u32, seed: u64) -> Result<Asked, ParseIntError> {
        let words: Vec<String> = std::env::args().collect();
        let after = |name: &str| words.iter().skip_while(|word| *word != name).nth(1);
        let quick = words.iter().any(|word| word == "--quick");
        let cases = after(word).map_or(Ok(if quick { quickly } else { usually }), |text| text.parse())?;
        let seed = after("--seed").map_or(Ok(seed), |text| text.parse())?;
        Ok(Asked { quick, cases, seed })
    }
}

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
