//! Makes a table of probabilities that conclusions go by, from simulated devices whose inside is known, and the samples that
//! a test looks for staleness by: `cargo run -p flashscope-fleet --example counted-table -- state`.
#![allow(missing_docs)]

use flashscope_fleet::{DrawError, capacities, claims, endurance, integrity, states, worth};
use std::error::Error;
use std::path::Path;

/// A table and how it is made.
struct Counted {
    name: &'static str,
    folder: &'static str,
    devices: u32,
    seed: u64,
    /// Its lines, with these remarks before them.
    table: fn(u64, u32, &str) -> Result<String, DrawError>,
    samples: fn() -> Result<String, DrawError>,
}

const TABLES: [Counted; 5] = [
    Counted {
        name: "claims",
        folder: "crates/infer/src/claims",
        devices: 1800,
        seed: claims::TABLE_SEED,
        table: |seed, devices, remarks| Ok(claims::table(seed, devices)?.to_text(remarks)),
        samples: claims::samples,
    },
    Counted {
        name: "state",
        folder: "crates/infer/src/calibrated",
        devices: 3000,
        seed: states::TABLE_SEED,
        table: |seed, devices, remarks| Ok(states::table(seed, devices)?.to_text(remarks)),
        samples: states::samples,
    },
    Counted {
        name: "capacity",
        folder: "crates/infer/src/capacity",
        devices: 6000,
        seed: capacities::TABLE_SEED,
        table: |seed, devices, remarks| Ok(capacities::table(seed, devices)?.to_text(remarks)),
        samples: capacities::samples,
    },
    // As many with one planted fault as with two.
    Counted {
        name: "integrity",
        folder: "crates/integrity/src",
        devices: 1320,
        seed: integrity::TABLE_SEED,
        table: |seed, devices, remarks| Ok(integrity::table(seed, devices)?.to_text(remarks)),
        samples: integrity::samples,
    },
    Counted {
        name: "endurance",
        folder: "crates/infer/src/endurance",
        devices: 1500,
        seed: endurance::TABLE_SEED,
        table: |seed, devices, remarks| Ok(endurance::table(seed, devices)?.to_text(remarks)),
        samples: endurance::samples,
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let wanted = words.next().ok_or("name the table: claims, state, capacity, integrity, endurance or worth")?;
    if wanted == "worth" {
        return write_worth(words.next().map_or(Ok(WORTH_DEVICES), |text| text.parse())?);
    }
    let Counted { name, folder, devices, seed, table, samples } =
        TABLES.iter().find(|one| one.name == wanted).ok_or("there is no such table")?;
    let devices: u32 = words.next().map_or(Ok(*devices), |text| text.parse())?;
    let holds = match *name {
        "claims" => "Claims on findings: finding, grounds, end of a range of log odds of scores:right/wrong … Made by",
        "endurance" => "Quantiles of the first error: regime, units of its scale at 0, 1/40, … 1 of the cases. Made by",
        _ => "Counts of true answers: question, regime, score up to, answer, cases. Made by",
    };
    let remarks = format!(
        "{holds}\n\
         cargo run -p flashscope-fleet --example counted-table -- {name} {devices}\n\
         from {devices} simulated devices of seed {seed} (docs/calibration.md)."
    );
    let folder = Path::new(folder);
    std::fs::write(folder.join("table.csv"), table(*seed, devices, &remarks)?)?;
    std::fs::write(folder.join("sample.csv"), samples()?)?;
    Ok(())
}

/// Devices that the worth of experiments is counted on, where nobody says.
const WORTH_DEVICES: u32 = 90;

/// What experiments settle: counts of a plan, not of a signal, so that no sample of scores tells whether it is stale.
fn write_worth(devices: u32) -> Result<(), Box<dyn Error>> {
    let remarks = format!(
        "What experiments settle: question, experiments done, cases, experiments left, findings that became right behind\n\
         them (geometry, advice, all). Made by\n\
         cargo run --release -p flashscope-fleet --example counted-table -- worth {devices}\n\
         from simulated devices of seeds {:?} (docs/calibration.md).",
        worth::TABLE_SEEDS
    );
    let table = worth::table(devices)?.to_text(&remarks);
    std::fs::write("crates/infer/src/worth/table.csv", table)?;
    Ok(())
}
