//! The definitions that come along.

use crate::definition::Definition;

const PRESETS: [(&str, &str); 12] = [
    ("crystaldiskmark", include_str!("../presets/crystaldiskmark.toml")),
    ("androbench", include_str!("../presets/androbench.toml")),
    ("androbench-2011", include_str!("../presets/androbench-2011.toml")),
    ("sd-class", include_str!("../presets/sd-class.toml")),
    ("app-class", include_str!("../presets/app-class.toml")),
    ("android-cdd", include_str!("../presets/android-cdd.toml")),
    ("mmc-basic", include_str!("../presets/mmc-basic.toml")),
    ("dd", include_str!("../presets/dd.toml")),
    ("snia-iops", include_str!("../presets/snia-iops.toml")),
    ("snia-throughput", include_str!("../presets/snia-throughput.toml")),
    ("snia-latency", include_str!("../presets/snia-latency.toml")),
    ("snia-wsat", include_str!("../presets/snia-wsat.toml")),
];

/// Their names, in the order in which people should see them.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The definition of this name; `None` where there is none.
///
/// # Panics
/// Never: a test reads every one of them.
pub fn preset(name: &str) -> Option<Definition> {
    let (_, text) = PRESETS.iter().find(|(other, _)| *other == name)?;
    Some(Definition::parse(text).expect("a test reads every definition that comes along"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Wish};

    #[test]
    fn every_definition_makes_sense_and_bears_its_name() {
        for name in names() {
            let definition = preset(name).expect("it is there");
            assert_eq!(definition.name(), name);
            let schedule = definition.schedule(Place::Machine, &Wish::default());
            let schedule = schedule.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(schedule.changed.is_empty() && schedule.left_out.is_empty(), "{name}: {schedule:?}");
            let limits = flashscope_load::plan::Limits {
                capacity: flashscope_units::Bytes::gib(16),
                granularity: flashscope_units::Bytes::SECTOR,
            };
            let plans = flashscope_load::plan::resolve_set(&schedule.set, |_| limits);
            assert!(plans.is_ok(), "{name}: {}", plans.unwrap_err());
        }
        assert_eq!(preset("no-such"), None);
    }

    #[test]
    fn what_is_not_as_defined_is_said() {
        let quick = Wish { quick: true, ..Wish::default() };
        let schedule = preset("crystaldiskmark").unwrap().schedule(Place::Machine, &quick).unwrap();
        assert_eq!(schedule.changed, ["runtime: 5.00 s → 500 ms", "pause: 5.00 s → 50.0 ms"]);
        let over = flashscope_load::file::JobText { span: Some("64MiB".into()), ..Default::default() };
        let wish = Wish { over, repeat: Some(2), ..Wish::default() };
        let schedule = preset("snia-iops").unwrap().schedule(Place::Machine, &wish).unwrap();
        assert_eq!(schedule.changed, ["repeats: 25 → 2", "span: (not set) → 64 MiB"]);
        assert_eq!((schedule.prepare, schedule.set.phases.len()), (2, 58));
    }

    #[test]
    fn what_cannot_run_there_is_left_out_with_the_reason() {
        let schedule = preset("dd").unwrap().schedule(Place::Simulated, &Wish::default()).unwrap();
        let ran: Vec<&str> = schedule.set.phases.iter().map(|phase| phase.jobs[0].name.as_str()).collect();
        assert_eq!(ran, ["direct, zero", "direct, random", "dsync, zero", "dsync, random"]);
        assert!(schedule.left_out.iter().all(|(_, why)| why.contains("hint: ")), "{:?}", schedule.left_out);
    }
}
