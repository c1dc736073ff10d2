//! The twins of the catalogue that were fitted, and not made by hand.

use flashscope_twin::{Fit, FitError, Measured, Part, Unattended};

/// A fitted twin and the published log that it was fitted to.
#[derive(Clone, Copy, Debug)]
pub struct Fitted {
    /// Name of the model.
    pub model: &'static str,
    /// What its model file says it is.
    pub title: &'static str,
    /// Where the log lies, relative to the repository.
    pub path: &'static str,
    /// Least share of the figures within 15 %, contrasts left out: what the fit reached, rounded down.
    pub within: f64,
}

/// All of them.
pub const FITTED: [Fitted; 6] = [
    Fitted {
        model: "card-3",
        title: "SD card, 8 GB, 4 MiB units, 6 open in any order (fitted to a published log, card-3-3)",
        path: "fixtures/field/card-3-3.txt",
        within: 0.69,
    },
    Fitted {
        model: "card-5",
        title: "SD card, 4 GB, 4 MiB units, 3 open in any order (fitted to a published log, card-5-2)",
        path: "fixtures/field/card-5-2.txt",
        within: 0.73,
    },
    Fitted {
        model: "card-9",
        title: "SD card, 8 GB, 4 MiB units, 4 open, no page to be seen, fast unit 1 (fitted to a published log, card-9)",
        path: "fixtures/field/card-9.txt",
        within: 0.68,
    },
    Fitted {
        model: "card-15",
        title: "SD card, 4 GB, 4 MiB units, 3 open, two page levels, slow units 0 and 1 (fitted to a published log, card-15)",
        path: "fixtures/field/card-15.txt",
        within: 0.8,
    },
    Fitted {
        model: "card-27",
        title: "SD card, 8 GB, 4 MiB units, no limit seen, random order costs 120 times (fitted to a published log, card-27)",
        path: "fixtures/field/card-27.txt",
        within: 0.85,
    },
    Fitted {
        model: "card-readme",
        title: "memory card, 4 MiB units, 2 open, two page levels (fitted to the log in flashbench's README)",
        path: "fixtures/field/flashbench-readme.txt",
        within: 0.93,
    },
];

impl Fitted {
    /// Fits it anew to its log, whose text this is.
    ///
    /// # Errors
    /// Where no twin can be fitted.
    pub fn fit(&self, log: &str) -> Result<Fit, FitError> {
        flashscope_twin::fit(&self.measured(log)?, self.title, &mut Unattended)
    }

    fn measured(&self, log: &str) -> Result<Measured, FitError> {
        let observations = flashscope_transcript::parse(log).observations;
        let name = self.path.rsplit('/').next().unwrap_or(self.path).to_owned();
        Measured::of(vec![Part { name, facts: None, identity: None, observations, seeds: Vec::new() }])
    }
}
