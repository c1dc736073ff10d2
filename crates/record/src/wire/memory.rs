//! The part of a record of memory: what was there, every figure that was taken, and what follows for caches.

use super::stress::Stress;
use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part, words};
use flashscope_model::finding::{Bound, Support, Unknown};
use flashscope_model::{Estimate, Reason, memory as model};
use serde::{Deserialize, Serialize};

part! {
    /// What a machine's memory does.
    MemoryPart of model::MemoryRecord as [Memory] {
        /// What was there to be measured, and what limits it.
        setup: MemorySetup = setup,
        /// How fast long arrays are read and written.
        bandwidth: Vec<MemoryBandwidth> = bandwidth,
        /// How long dependent loads take.
        latency: Vec<MemoryChase> = latency,
        /// How long they take while other threads read.
        loaded_latency: Vec<LoadedLatency> = loaded,
        /// What follows for caches and address translation.
        findings: Vec<MemoryFinding> = findings,
        /// Caches as the machine tells of them.
        told_caches: Vec<ToldCache> = told,
        /// What a test under stress came to; null where it was none.
        stress: Option<Stress> = stress,
        /// What must be known of it.
        notes: Vec<String> = notes,
    }
}

mirror! {
    /// The memory that a program may use, and what decides how fast it is.
    MemorySetup of model::Setup {
        /// Processors that this program may run on.
        processors: Vec<u32> = processors,
        /// As the processor calls itself; null where it does not.
        processor_name: Option<String> = processor_name,
        /// Instructions that moved the data.
        instructions: String = instructions,
        /// Memory of the machine.
        total_bytes: u64 = total,
        /// Of this available when the run began, after every limit.
        available_bytes: u64 = available,
        /// Limit of the control group; null where there is none.
        limit_bytes: Option<u64> = limit,
        /// Swap space that is switched on.
        swap_bytes: u64 = swap,
        /// Whether what was measured was kept out of swap space.
        locked: bool = locked,
        /// Size of a small page.
        page_bytes: u64 = page,
        /// Size of a huge page; null where programs get none.
        huge_page_bytes: Option<u64> = huge_page,
        /// Whether the kernel gives huge pages; null where it does not say.
        huge_mode: Option<String> = huge_mode,
        /// Who runs the machine, where it is a virtual one; null elsewhere.
        hypervisor: Option<String> = hypervisor,
    }

    /// The rate of one loop.
    MemoryBandwidth of model::Bandwidth {
        /// What the loop does.
        kernel: MemoryKernel = kernel,
        /// How it stores; null where it only reads.
        store: Option<MemoryStore> = store,
        /// Threads, each with arrays of its own.
        threads: u32 = threads,
        /// Length of each array, all threads together.
        array_bytes: u64 = array,
        /// Share of the arrays that lies in huge pages.
        huge_ratio: f64 = huge,
        /// Each array counted once, one figure for each pass.
        rates_bytes_per_s: Vec<f64> = rates,
    }

    /// A chase: each load needs what the load before it has brought.
    MemoryChase of model::Chase {
        /// In which order places are visited.
        route: ChaseRoute = route,
        /// The stretch of memory whose places are visited.
        span_bytes: u64 = span,
        /// Bytes between two neighbouring places.
        spacing_bytes: u64 = spacing,
        /// Places that are visited before the first comes again.
        places: u64 = places,
        /// Pages that were asked for.
        pages: MemoryPages = pages,
        /// Share of the memory that lies in huge pages.
        huge_ratio: f64 = huge,
        /// Time of a load, one figure for each stretch of loads.
        times_ns: Vec<f64> = times_ns,
    }

    /// A chase beside threads that read.
    LoadedLatency of model::Loaded {
        /// Empty steps between two lines that a reading thread reads; null where none read.
        delay: Option<u32> = delay,
        /// Threads that read.
        threads: u32 = threads,
        /// What these read, and the chase with them.
        rate_bytes_per_s: f64 = rate,
        /// Time of a load of the chase, one figure for each stretch of loads.
        times_ns: Vec<f64> = times_ns,
    }

    /// A data cache as the machine tells of it.
    ToldCache of model::ToldCache {
        /// Its level, from 1 on.
        level: u32 = level,
        /// Its size.
        size_bytes: u64 = size,
        /// Its line; null where it is not told.
        line_bytes: Option<u64> = line,
        /// Its ways; null where they are not told.
        ways: Option<u32> = ways,
        /// Processors that share it.
        shared_by: u32 = shared_by,
        /// Who says so.
        source: String = source,
    }
}

mirror_tuple! {
    /// Another figure, and how likely it is.
    MemoryAlternative of (f64, f64) {
        /// The figure.
        value: f64,
        /// Its probability.
        confidence: f64,
    }
}

words! {
    /// What a loop over long arrays does.
    MemoryKernel mirrors model::Kernel {
        /// Adds up one array.
        Read,
        /// Fills one array.
        Write,
        /// a = b.
        Copy,
        /// a = q b.
        Scale,
        /// a = b + c.
        Add,
        /// a = b + q c.
        Triad,
    }
}

words! {
    /// How data is stored.
    MemoryStore mirrors model::Store {
        /// Through the caches.
        Plain,
        /// Past the caches.
        NonTemporal,
    }
}

words! {
    /// Pages that memory was asked for in.
    MemoryPages mirrors model::Pages {
        /// The smallest that the machine has.
        Small,
        /// Huge ones.
        Huge,
    }
}

words! {
    /// In which order the places of a chase are visited.
    ChaseRoute mirrors model::Route {
        /// Any place may follow any other.
        Random,
        /// All places of a page before those of the next page.
        ByPage,
        /// One place of each page.
        PerPage,
        /// Two places of each block one after the other.
        Pairs,
    }
}

words! {
    /// What is inferred.
    MemoryQuantity mirrors model::Quantity {
        /// How many levels of data cache there are.
        CacheLevels,
        /// Size of the cache of a level.
        CacheSize,
        /// Time of a load that this level serves.
        CacheLatency,
        /// Bytes that come into the first cache together.
        LineSize,
        /// Memory whose addresses a level of the translation buffer holds in small pages.
        TlbReach,
        /// What a load takes longer beyond that.
        TlbMiss,
        /// Time of a load that no cache serves.
        MemoryLatency,
    }
}

words! {
    /// The unit of an inferred figure.
    MemoryUnit mirrors model::MemoryUnit {
        /// A number of things.
        Count,
        /// Bytes.
        Bytes,
        /// Nanoseconds.
        Nanoseconds,
    }
}

/// One inferred figure: a value, a bound, or the reason why there is neither.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryFinding {
    /// What.
    pub quantity: MemoryQuantity,
    /// Of which level, from 1 on; null where it has none.
    pub level: Option<u32>,
    /// The unit of all figures.
    pub unit: MemoryUnit,
    /// The figure; null where there is a bound or none.
    pub value: Option<f64>,
    /// Lower end of what it is known to be; null where there is none.
    pub at_least: Option<f64>,
    /// Upper end likewise.
    pub at_most: Option<f64>,
    /// Probability that it is right; null where it is unknown.
    pub confidence: Option<f64>,
    /// Other figures, likeliest first.
    pub alternatives: Vec<MemoryAlternative>,
    /// One sentence that a person can check against the samples.
    pub evidence: String,
    /// Why there is neither a figure nor a bound; null where there is one.
    pub reason_unknown: Option<String>,
    /// What an unknown figure leans to; null where nothing fits best.
    pub leans_to: Option<MemoryAlternative>,
    /// What the machine tells of it itself; null where it does not.
    pub told: Option<f64>,
}

impl Mirror<model::MemoryFinding> for MemoryFinding {
    fn from_model(model: &model::MemoryFinding) -> Self {
        let estimate = &model.estimate;
        let (least, most) = estimate.bound().map_or((None, None), Bound::ends);
        let leaning = match estimate {
            Estimate::Unknown(Unknown { leaning, .. }) => leaning.as_ref(),
            _ => None,
        };
        MemoryFinding {
            quantity: model.quantity.into(),
            level: model.level,
            unit: model.quantity.unit().into(),
            value: estimate.value(),
            at_least: least.copied(),
            at_most: most.copied(),
            confidence: estimate.confidence(),
            alternatives: estimate.alternatives().iter().map(Mirror::from_model).collect(),
            evidence: estimate.evidence().to_owned(),
            reason_unknown: estimate.reason().map(|reason| reason.word().to_owned()),
            leans_to: leaning.map(Mirror::from_model),
            told: model.told,
        }
    }

    fn into_model(self) -> Result<model::MemoryFinding, RecordError> {
        let quantity: model::Quantity = self.quantity.into();
        let odd = |what: String| RecordError::contradiction(format!("findings.{}", quantity.word()), what);
        let bound = Bound::from_ends(self.at_least, self.at_most);
        let support = |alternatives: Vec<MemoryAlternative>, evidence| -> Result<Support<f64>, RecordError> {
            let confidence = self.confidence.ok_or_else(|| odd("an answer without a confidence".to_owned()))?;
            Ok(Support {
                confidence,
                alternatives: alternatives.into_model()?,
                evidence,
                method: Vec::new(),
                doubts: Vec::new(),
            })
        };
        let estimate = match (self.value, bound, self.reason_unknown) {
            (Some(value), None, None) => Estimate::Value(value, support(self.alternatives, self.evidence)?),
            (None, Some(bound), None) => Estimate::Bound(bound, support(self.alternatives, self.evidence)?),
            (None, None, Some(word)) => Estimate::Unknown(Unknown {
                reason: Reason::from_word(&word).ok_or_else(|| odd(format!("no reason is named '{word}'")))?,
                evidence: self.evidence,
                leaning: self.leans_to.into_model()?,
            }),
            _ => return Err(odd("it is not one of a figure, a bound and a reason".to_owned())),
        };
        Ok(model::MemoryFinding { quantity, level: self.level, estimate, told: self.told })
    }
}
