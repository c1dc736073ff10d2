//! Makes the table of probabilities that verdicts about power cuts go by, from simulated devices whose faults are known:
//! `cargo run --profile dev -p flashscope-fleet --example integrity-table -- crates/integrity/src/table.csv`.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_fleet::integrity::{TABLE_SEED as SEED, samples, table};
use std::error::Error;

/// Devices with one fault, and as many with two.
const DEVICES: u32 = 1320;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("name the file to write")?;
    let devices: u32 = words.next().map_or(Ok(DEVICES), |text| text.parse())?;
    let remarks = format!(
        "Counts of true answers: question, regime, score up to, answer, cases. Made by\n\
         cargo run -p flashscope-fleet --example integrity-table -- crates/integrity/src/table.csv {devices}\n\
         from {devices} simulated devices with one fault and as many with two, of seed {SEED} (docs/calibration.md)."
    );
    std::fs::write(&path, table(SEED, devices)?.to_text(&remarks))?;
    std::fs::write(std::path::Path::new(&path).with_file_name("sample.csv"), samples()?)?;
    Ok(())
}
