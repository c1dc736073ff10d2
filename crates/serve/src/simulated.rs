//! What may be measured from a page: a simulated device, and nothing else.
//!
//! A [`Simulated`] can be made in one way, by the parser of simulated devices, with a reader of files that refuses all of them.
//! Its words for a worker begin with `sim:`, behind which the main program looks for no device and no file of this machine. So no
//! text that a browser sends can name a real device, a path or an option: there is no code that would carry it.

use std::ffi::OsString;

/// No spec is longer, in bytes.
const LONGEST: usize = 200;

/// A simulated device that the parser knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Simulated(String);

/// What can be done with one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// Its word in forms.
    pub(crate) name: &'static str,
    /// What people read.
    pub(crate) title: &'static str,
    /// The command and its options, all of them.
    words: &'static [&'static str],
}

/// All that can be done.
pub(crate) const WORKS: [Work; 6] = [
    Work { name: "inspect", title: "inspect: the whole characterisation", words: &["inspect"] },
    Work {
        name: "read",
        title: "bench: random reads for 10 s",
        words: &["bench", "--rw=randread", "--runtime=10s", "--repeat=3"],
    },
    Work {
        name: "write",
        title: "bench: random writes of 16 MiB",
        words: &["bench", "--rw=randwrite", "--size=16MiB", "--repeat=3"],
    },
    Work { name: "class", title: "bench: the speed classes of SD cards", words: &["bench", "--preset=sd-class"] },
    Work { name: "capacity", title: "capacity: is it as large as it says", words: &["capacity"] },
    Work { name: "state", title: "state: which state it is in", words: &["state"] },
];

impl Work {
    /// The one of this name.
    pub(crate) fn of(name: &str) -> Option<&'static Work> {
        WORKS.iter().find(|work| work.name == name)
    }

    /// All words of a worker that does it on a device, with its record in the folder that it runs in. Settings of this host are left
    /// aside: none of them is meant for what a page starts.
    pub(crate) fn words(&self, device: &Simulated) -> Vec<OsString> {
        let first = ["--settings=/dev/null"].iter().chain(self.words).map(OsString::from);
        first.chain([OsString::from(format!("--output={RECORD}")), OsString::from(device.target())]).collect()
    }
}

/// The name of a worker's record.
pub(crate) const RECORD: &str = "record.json";

impl Simulated {
    /// The device of this spec (`sd-4mib,noise=field`), with or without `sim:` before it.
    ///
    /// # Errors
    /// It is none, in words that say what to do.
    pub(crate) fn of(spec: &str) -> Result<Simulated, String> {
        let spec = spec.trim();
        let spec = spec.strip_prefix("sim:").unwrap_or(spec);
        if spec.len() > LONGEST {
            return Err(format!(
                "it is longer than {LONGEST} letters\nhint: name a model and what is to be changed of it"
            ));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ,=._-+%".contains(&byte);
        if !spec.bytes().all(is_plain) {
            return Err(
                "a model and its changes hold letters, digits and , = . _ - + % alone\nhint: sd-4mib,noise=field \
                        is one"
                    .to_owned(),
            );
        }
        // A file with a state of the device in it would be read by the worker.
        let names_a_file = |change: &str| {
            let (key, value) = change.split_once('=').unwrap_or((change, ""));
            key.trim() == "state" && value.contains('.')
        };
        if spec.split(',').any(names_a_file) {
            return Err(
                "a page names no file of this machine\nhint: state=filled or another state by its name".to_owned()
            );
        }
        let no_file = |_: &str| Err("a page names no file of this machine".to_owned());
        flashscope_sim::show(spec, false, no_file).map_err(|error| error.to_string())?;
        Ok(Simulated(format!("sim:{spec}")))
    }

    /// As a worker is told it.
    pub(crate) fn target(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_a_simulated_device_can_be_named() {
        for good in ["sd-4mib", "sim:sd-4mib,noise=field", " emmc-phone,seed=7,state=filled ", "sd-flat,capacity=2GiB"]
        {
            let device = Simulated::of(good).unwrap();
            assert!(device.target().starts_with("sim:") && !device.target().contains('/'), "{device:?}");
        }
        let hostile = [
            "",
            "/dev/sda",
            "sim:/dev/sda",
            "dev/sda",
            "../model.toml",
            "model.toml",
            "sim:./model.toml",
            "sd-4mib,state=/etc/passwd",
            "sd-4mib,state=card.state",
            "sd-4mib,state = card.state",
            "sd-4mib --destroy-data=1",
            "--destroy-data=1",
            "-o/dev/sda",
            "sd-4mib\n/dev/sda",
            "sd-4mib\0",
            "sim:sim:sd-4mib",
            "sd-4mib,output=x",
            "<script>",
            "sd-4mib;reboot",
        ];
        for spec in hostile {
            assert!(Simulated::of(spec).is_err(), "{spec:?}");
        }
        assert!(Simulated::of(&format!("sd-4mib{}", ",seed=1".repeat(40))).is_err());
    }

    #[test]
    fn words_of_a_worker_are_fixed_and_consent_to_nothing() {
        let device = Simulated::of("sd-4mib").unwrap();
        for work in &WORKS {
            let words: Vec<String> = work.words(&device).into_iter().map(|word| word.into_string().unwrap()).collect();
            let targets: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
            assert_eq!(targets[1..], ["sim:sd-4mib"], "one target, behind the command: {words:?}");
            for word in ["destroy", "allow-write", "accept-wear", "life", "power", "job", "external", "host"] {
                assert!(!words.iter().any(|said| said.contains(word)), "{words:?}");
            }
            assert_eq!(Work::of(work.name), Some(work));
        }
        assert_eq!(Work::of("inspect --destroy-data=1"), None);
    }
}
