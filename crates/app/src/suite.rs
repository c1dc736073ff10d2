//! Suites: which apps are played how often, in which cases.

/// A suite that comes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// Where its counts come from.
    pub source: &'static str,
    /// Its apps with their rounds, in order; one of 0 is left out.
    pub apps: &'static [(&'static str, u64)],
}

/// The suites, first the one that is meant without a name.
pub const SUITES: [Suite; 2] = [
    Suite {
        name: "heavy",
        source: "the suite Heavy of the published eBench report",
        apps: &[("camera", 10), ("web", 100), ("contacts", 200), ("install", 10), ("media-scan", 0), ("gallery", 100)],
    },
    Suite {
        name: "light",
        source: "a tenth of the suite heavy: our own assumption, for a first look",
        apps: &[("camera", 2), ("web", 10), ("contacts", 20), ("install", 1), ("media-scan", 0), ("gallery", 10)],
    },
];

/// A case of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// All apps of the suite, each on what it prepared itself.
    Main,
    /// Photos and packages until the file system is full, and on, with photos deleted now and then.
    Full,
}

impl Case {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Case::Main => "main",
            Case::Full => "full",
        }
    }

    /// The apps that a full case plays in turn (the published sequence: "camera and install until it is 95 % full").
    pub const FILLING: [&'static str; 2] = ["camera", "install"];
    /// The one of these whose files are photos, which stay.
    pub const PHOTOS: &'static str = "camera";
    /// How full a full case makes the file system.
    pub const FULL: f64 = 0.95;
    /// Runs of a full case.
    pub const FULL_RUNS: u32 = 30;
}

impl std::str::FromStr for Case {
    type Err = String;

    fn from_str(word: &str) -> Result<Case, String> {
        match word {
            "main" => Ok(Case::Main),
            "full" => Ok(Case::Full),
            _ => Err(format!("there is no case '{word}': main or full")),
        }
    }
}
