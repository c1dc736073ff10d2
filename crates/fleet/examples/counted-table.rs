//! Makes a table of probabilities that conclusions go by, from simulated devices whose inside is known, and the samples that
//! a test looks for staleness by: `cargo run -p flashscope-fleet --example counted-table -- state`.
#![allow(missing_docs)]

use flashscope_fleet::{DrawError, capacities, integrity, states};
use flashscope_infer::calibrated::Table;
use std::error::Error;
use std::path::Path;

/// A table and how it is made.
struct Counted {
    name: &'static str,
    folder: &'static str,
    devices: u32,
    seed: u64,
    table: fn(u64, u32) -> Result<Table, DrawError>,
    samples: fn() -> Result<String, DrawError>,
}

const TABLES: [Counted; 3] = [
    Counted {
        name: "state",
        folder: "crates/infer/src/calibrated",
        devices: 3000,
        seed: states::TABLE_SEED,
        table: states::table,
        samples: states::samples,
    },
    Counted {
        name: "capacity",
        folder: "crates/infer/src/capacity",
        devices: 6000,
        seed: capacities::TABLE_SEED,
        table: capacities::table,
        samples: capacities::samples,
    },
    // As many with one planted fault as with two.
    Counted {
        name: "integrity",
        folder: "crates/integrity/src",
        devices: 1320,
        seed: integrity::TABLE_SEED,
        table: integrity::table,
        samples: integrity::samples,
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let wanted = words.next().ok_or("name the table: state, capacity or integrity")?;
    let Counted { name, folder, devices, seed, table, samples } =
        TABLES.iter().find(|one| one.name == wanted).ok_or("there is no such table")?;
    let devices: u32 = words.next().map_or(Ok(*devices), |text| text.parse())?;
    let remarks = format!(
        "Counts of true answers: question, regime, score up to, answer, cases. Made by\n\
         cargo run -p flashscope-fleet --example counted-table -- {name} {devices}\n\
         from {devices} simulated devices of seed {seed} (docs/calibration.md)."
    );
    let folder = Path::new(folder);
    std::fs::write(folder.join("table.csv"), table(*seed, devices)?.to_text(&remarks))?;
    std::fs::write(folder.join("sample.csv"), samples()?)?;
    Ok(())
}
