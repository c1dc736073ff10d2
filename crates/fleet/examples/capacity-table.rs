//! Makes the table of probabilities that tests of the capacity go by, from simulated devices whose size is known:
//! `cargo run --profile dev -p flashscope-fleet --example capacity-table -- crates/infer/src/capacity/table.csv`.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use flashscope_fleet::capacities::{TABLE_SEED as SEED, samples, table};
use std::error::Error;

/// Devices of it.
const DEVICES: u32 = 4000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("name the file to write")?;
    let devices: u32 = words.next().map_or(Ok(DEVICES), |text| text.parse())?;
    let remarks = format!(
        "Counts of true answers: question, regime, score up to, answer, cases. Made by\n\
         cargo run -p flashscope-fleet --example capacity-table -- crates/infer/src/capacity/table.csv {devices}\n\
         from {devices} simulated devices of seed {SEED} (docs/calibration.md)."
    );
    std::fs::write(&path, table(SEED, devices)?.to_text(&remarks))?;
    std::fs::write(std::path::Path::new(&path).with_file_name("sample.csv"), samples()?)?;
    Ok(())
}
