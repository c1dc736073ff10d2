//! What a measurement of an emulated device must say of it: that it is one, and how late its answers were.
//!
//! It is for the record only. Nothing that draws conclusions sees it, for conclusions must not depend on what a device is.

use crate::{DISK_NAME, STATISTICS_NAME};
use flashscope_host::LoopDevice;
use flashscope_units::Nanos;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Half of the smallest contrast in the published tables (35 to 45 µs for the edge of a page): answers that are later than this
/// may be taken for structure.
const MATTERS: Nanos = Nanos::micros(20);

/// An emulated device, as someone who measures it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Conditions for the record, each a name and a value. Lateness is that of all answers since the emulator was started.
    pub conditions: Vec<(String, String)>,
    /// What a reader of the record must know; `None` where answers were punctual enough for every contrast.
    pub warning: Option<String>,
}

/// What there is to say of the device at `path` (`/dev/loopN`, or the file itself); `None` where no emulator of this program
/// is behind it.
pub fn seen(path: &Path) -> Option<Seen> {
    let path = fs::canonicalize(path).ok()?;
    let file = match LoopDevice::at(&path) {
        Some(device) => device.backing()?,
        None => path,
    };
    statistics(&file).and_then(|statistics| of(&statistics))
}

fn statistics(file: &Path) -> Option<Value> {
    (file.file_name()? == DISK_NAME).then_some(())?;
    let beside: PathBuf = file.parent()?.join(STATISTICS_NAME);
    serde_json::from_str(&fs::read_to_string(beside).ok()?).ok()
}

pub(crate) fn of(statistics: &Value) -> Option<Seen> {
    let word = |name: &str| statistics[name].as_str().map(str::to_owned);
    let time = |name: &str| statistics[name].as_u64().map(Nanos);
    let model = word("model")?;
    let mut conditions = vec![("emulated".to_owned(), model)];
    let mut add = |name: &str, value: Option<String>| conditions.extend(value.map(|value| (name.to_owned(), value)));
    add("emulation_speed", word("speed"));
    for name in ["floor_paced_ns", "lateness_ns_p50", "lateness_ns_p99", "lateness_ns_max"] {
        add(&format!("emulation_{name}"), time(name).map(|time| time.get().to_string()));
    }
    let faster = statistics["faster_than_floor_requests"].as_u64().filter(|count| *count > 0);
    add("emulation_faster_than_floor_requests", faster.map(|count| count.to_string()));

    let late = time("lateness_ns_p99").filter(|late| *late > MATTERS);
    let late = late.map(|late| format!("one answer in a hundred was sent {late} late or later"));
    let fast = faster.map(|count| format!("{count} requests were to be done sooner than this machine can answer"));
    let unpaced = (word("speed")? == "max").then(|| "it does not keep time (--speed max)".to_owned());
    let why: Vec<String> = [unpaced, late, fast].into_iter().flatten().collect();
    let warning = (!why.is_empty())
        .then(|| format!("the device is emulated, and {}: times are partly this machine's", why.join("; ")));
    Some(Seen { conditions, warning })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn statistics(p99: u64, faster: u64, speed: &str) -> Value {
        json!({"model": "m", "speed": speed, "floor_paced_ns": 9000, "lateness_ns_p50": 0, "lateness_ns_p99": p99,
            "lateness_ns_max": 70_000, "faster_than_floor_requests": faster})
    }

    #[test]
    fn a_punctual_device_is_named_and_a_late_one_warned_of() {
        let punctual = of(&statistics(4000, 0, "1")).expect("an emulator's");
        assert_eq!(punctual.warning, None);
        assert!(punctual.conditions.contains(&("emulation_lateness_ns_p99".to_owned(), "4000".to_owned())));
        let warned = |p99, faster, speed| of(&statistics(p99, faster, speed)).and_then(|seen| seen.warning);
        assert!(warned(50_000, 0, "1").is_some_and(|why| why.contains("50.0 µs late")));
        assert!(warned(0, 3, "1").is_some_and(|why| why.contains("3 requests")));
        assert!(warned(0, 0, "max").is_some());
    }

    #[test]
    fn other_files_are_not_emulated() {
        assert_eq!(of(&json!({"some": "thing"})), None);
        assert_eq!(seen(Path::new("/dev/null")), None);
        assert_eq!(seen(Path::new("/nowhere")), None);
    }
}
