//! What a run did to the flash: counted where the device counts, else estimated with its assumption said.

use flashscope_device::Wear;
use flashscope_model::run::Erases;
use flashscope_model::{Findings, Observations};
use flashscope_units::Bytes;

/// Erases caused; `None` where neither a counter nor an allocation unit is known and something was written.
pub(crate) fn erases(counted: Option<Wear>, observations: &Observations, findings: &Findings) -> Option<Erases> {
    if let Some(wear) = counted {
        return Some(Erases { units: wear.erases, counted: true, assumption: None });
    }
    let written = observations.spent().written;
    if written == Bytes::ZERO {
        return Some(Erases { units: 0, counted: false, assumption: Some("nothing was written".to_owned()) });
    }
    let unit = findings.geometry.allocation_unit.value()?;
    let filled = written.get().div_ceil(unit.get());
    let merges = stalled_writes(observations);
    Some(Erases {
        units: filled + merges,
        counted: false,
        assumption: Some(format!(
            "one erase per {unit} written, and one for each of {merges} writes that took over ten times the median of their row"
        )),
    })
}

/// Writes that took so much longer than the others of their row that a whole unit was probably rewritten for them.
fn stalled_writes(observations: &Observations) -> u64 {
    use flashscope_model::observation::RateEvidence;
    use flashscope_model::{Data, Rows};
    let mut stalls = 0;
    let mut count = |times: &[flashscope_units::Nanos]| {
        let mut sorted: Vec<u64> = times.iter().map(|time| time.get()).collect();
        sorted.sort_unstable();
        if let Some(median) = sorted.get(sorted.len() / 2) {
            stalls += sorted.iter().filter(|time| **time > median * 10).count() as u64;
        }
    };
    for run in observations.runs.iter().filter(|run| run.spent.written > Bytes::ZERO) {
        match &run.data {
            Data::OpenUnits(data) => data.rows.iter().for_each(|row| {
                if let RateEvidence::Times(times) = &row.rate {
                    count(times);
                }
            }),
            Data::FastArea(data) => data.suspects.iter().chain(&data.controls).for_each(|unit| count(&unit.times)),
            Data::Throughput(data) => count(&data.times),
            Data::SlcCache(data) => data.bursts.iter().for_each(|burst| count(&burst.times)),
            other => debug_assert_eq!(other.name().rows(), Rows::Apart, "its rows are not looked at"),
        }
    }
    stalls
}
