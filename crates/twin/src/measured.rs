//! What was measured, of one device, from one file or several.

use crate::FitError;
use flashscope_model::Data;
use flashscope_model::observation::{AlignEvidence, Observations};
use flashscope_model::{DeviceFacts, Findings, RunRecord};
use flashscope_units::Bytes;

/// One log or record.
#[derive(Clone, Debug)]
pub struct Part {
    /// What people call it: the file.
    pub name: String,
    /// The device, where the file tells.
    pub facts: Option<DeviceFacts>,
    /// What names the very device (a register, a serial number), where the file tells.
    pub identity: Option<String>,
    /// The figures.
    pub observations: Observations,
    /// The seed of each run, where it is known.
    pub seeds: Vec<Option<u64>>,
}

impl Part {
    /// A record's part, under this name.
    pub fn of_record(name: String, record: RunRecord) -> Part {
        let runs = record.observations.runs.len();
        let steps = record.plan.steps.len();
        // A step that failed left no run; then it is not known which run belongs to which step.
        let seed =
            |index: usize| (steps == runs).then(|| flashscope_session::seed_of_run(record.plan.seed, index as u32 + 1));
        let seeds = (0..runs).map(seed).collect();
        let identity = record.envelope.device.as_ref().and_then(|facts| facts.identity.as_ref()).map(|id| id.0.clone());
        Part { name, facts: record.envelope.device, identity, observations: record.observations, seeds }
    }
}

/// Everything that is known of one device.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The files that it comes from.
    pub sources: Vec<String>,
    /// The device, where a record tells.
    pub facts: Option<DeviceFacts>,
    /// All figures.
    pub observations: Observations,
    /// The seed of each run, where it is known.
    pub seeds: Vec<Option<u64>>,
    /// What is concluded from all of them.
    pub findings: Findings,
}

impl Measured {
    /// Puts the parts together, in their order.
    ///
    /// # Errors
    /// Where the parts are about different devices, or say too little.
    pub fn of(parts: Vec<Part>) -> Result<Measured, FitError> {
        one_device(&parts)?;
        let sources = parts.iter().map(|part| part.name.clone()).collect();
        let facts = parts.iter().find_map(|part| part.facts.clone());
        let capacity = parts.iter().find_map(|part| part.observations.capacity);
        let capacity = capacity.or(facts.as_ref().map(|facts| facts.capacity));
        let capacity_test = parts.iter().find_map(|part| part.observations.capacity_test.clone());
        let (mut runs, mut seeds) = (Vec::new(), Vec::new());
        for part in parts {
            seeds.extend(part.seeds.into_iter().chain(std::iter::repeat(None)).take(part.observations.runs.len()));
            runs.extend(part.observations.runs);
        }
        let observations = Observations { capacity, runs, capacity_test };
        enough(&observations)?;
        let findings = flashscope_infer::infer_on(facts.as_ref(), &observations);
        Ok(Measured { sources, facts, observations, seeds, findings })
    }
}

/// Different sizes, names of the very device or product names are different devices.
fn one_device(parts: &[Part]) -> Result<(), FitError> {
    for (what, told) in [
        ("capacity", all(parts, |part| part.observations.capacity.map(|bytes| bytes.get().to_string()))),
        ("identity", all(parts, |part| part.identity.clone())),
        ("product", all(parts, |part| part.facts.as_ref().map(|facts| facts.name.clone()))),
    ] {
        let first = told.first();
        if let Some((name, other)) = told.iter().find(|(_, value)| Some(value) != first.map(|(_, value)| value)) {
            let (first_name, value) = first.cloned().unwrap_or_default();
            return Err(FitError::TwoDevices { why: format!("{what} {value} in {first_name}, but {other} in {name}") });
        }
    }
    Ok(())
}

fn all(parts: &[Part], of: impl Fn(&Part) -> Option<String>) -> Vec<(String, String)> {
    parts.iter().filter_map(|part| Some((part.name.clone(), of(part)?))).collect()
}

/// Fewer rows of a table tell no level from chance.
const LEAST_ROWS: usize = 3;

/// A twin needs a table of reads or of writes with a few rows, or their live counterparts.
fn enough(observations: &Observations) -> Result<(), FitError> {
    if observations.runs.is_empty() {
        return Err(FitError::Nothing);
    }
    let tells = observations.runs.iter().any(|run| match &run.data {
        Data::Align(data) => {
            let whole = |evidence: &AlignEvidence| match evidence {
                AlignEvidence::Places(places) => !places.is_empty(),
                AlignEvidence::Printed { pre, on, .. } => pre.is_some() && on.is_some(),
            };
            data.rows.iter().filter(|row| whole(&row.evidence)).count() >= LEAST_ROWS
        }
        Data::Boundaries(data) => data.candidates.len() >= LEAST_ROWS,
        Data::OpenUnits(data) => data.rows.len() >= LEAST_ROWS && data.count.is_some(),
        Data::Fat(data) => data.rows.len() >= LEAST_ROWS,
        _ => false,
    });
    if tells {
        return Ok(());
    }
    let mut names: Vec<&str> = observations.runs.iter().map(|run| run.data.name().word()).collect();
    names.sort_unstable();
    names.dedup();
    Err(FitError::NotEnough { has: names.join(", ") })
}

/// The size of the device, and why it is taken for that where nothing says it.
pub(crate) fn capacity(measured: &Measured, unit: Bytes) -> (Bytes, Option<String>) {
    if let Some(capacity) = measured.observations.capacity {
        return (capacity, None);
    }
    let largest = measured.observations.runs.iter().filter_map(|run| match &run.data {
        Data::Align(data) => data.rows.iter().map(|row| row.align).max(),
        _ => None,
    });
    // flashbench starts at the power of two from a seventh of the size on; cards hold a little less than their name says.
    let (size, why) = match largest.max().filter(|largest| *largest >= Bytes::mib(16)) {
        Some(largest) => {
            (Bytes((largest.as_f64() * 3.72) as u64), format!("a usual size whose largest alignment is {largest}"))
        }
        None => (Bytes(3_965_190_144), "the log does not tell; a usual size".to_owned()),
    };
    (size.align_down(unit).max(unit * 64), Some(why))
}
