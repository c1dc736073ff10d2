//! The definitions that come along.

use crate::definition::Definition;

const PRESETS: [(&str, &str); 15] = [
    ("crystaldiskmark", include_str!("../presets/crystaldiskmark.toml")),
    ("androbench", include_str!("../presets/androbench.toml")),
    ("androbench-2011", include_str!("../presets/androbench-2011.toml")),
    ("androbench-3", include_str!("../presets/androbench-3.toml")),
    ("mobibench", include_str!("../presets/mobibench.toml")),
    ("flashbench-windows", include_str!("../presets/flashbench-windows.toml")),
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
    use crate::{Ground, Wish};
    use flashscope_units::Bytes;

    #[test]
    fn every_definition_makes_sense_and_bears_its_name() {
        for name in names() {
            let definition = preset(name).expect("it is there");
            assert_eq!(definition.name(), name);
            let schedule = definition.schedule(Ground::new(false), &Wish::default());
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
        let schedule = preset("crystaldiskmark").unwrap().schedule(Ground::new(false), &quick).unwrap();
        assert_eq!(schedule.changed, ["runtime: 5.00 s → 500 ms", "pause: 5.00 s → 50.0 ms"]);
        let over = flashscope_load::file::JobText { span: Some("64MiB".into()), ..Default::default() };
        let wish = Wish { over, repeat: Some(2), ..Wish::default() };
        let schedule = preset("snia-iops").unwrap().schedule(Ground::new(false), &wish).unwrap();
        assert_eq!(schedule.changed, ["repeats: 25 → 2", "span: (not set) → 64 MiB"]);
        assert_eq!((schedule.prepare, schedule.set.phases.len()), (2, 58));
    }

    #[test]
    fn what_cannot_run_there_is_left_out_with_the_reason() {
        let schedule = preset("dd").unwrap().schedule(Ground::new(true), &Wish::default()).unwrap();
        let ran: Vec<&str> = schedule.set.phases.iter().map(|phase| phase.jobs[0].name.as_str()).collect();
        assert_eq!(ran, ["direct, zero", "direct, random", "dsync, zero", "dsync, random"]);
        assert!(schedule.left_out.iter().all(|(_, why)| why.contains("hint: ")), "{:?}", schedule.left_out);
    }

    #[test]
    fn on_blocks_of_4_kib_what_is_smaller_is_left_out_and_the_rest_runs() {
        let ground = Ground { block: Bytes::kib(4), ..Ground::new(false) };
        for (name, left_out) in [("snia-iops", 7), ("snia-latency", 3), ("sd-class", 1), ("app-class", 0), ("dd", 0)] {
            let schedule = preset(name).unwrap().schedule(ground, &Wish::default()).unwrap();
            assert_eq!(schedule.left_out.len(), left_out, "{name}: {:?}", schedule.left_out);
            assert!(schedule.left_out.iter().all(|(_, why)| why.contains("512 B") && why.contains("hint: ")));
        }
    }

    #[test]
    fn units_are_those_that_the_card_claims() {
        let of = |claim| {
            let definition = preset("sd-class").unwrap().for_claim(claim);
            let schedule = definition.schedule(Ground::new(false), &Wish::default()).unwrap();
            let place = |name: &str| {
                let job = schedule.set.phases.iter().map(|phase| &phase.jobs[0]).find(|job| job.name == name).unwrap();
                (job.span.start, job.span.length.unwrap())
            };
            assert!(schedule.changed.is_empty(), "{:?}", schedule.changed);
            assert_eq!(place("record"), place("play"));
            (place("record"), definition.header.notes.last().unwrap().clone())
        };
        let (place, note) = of(Some(Bytes::mib(12)));
        assert_eq!(place, (Bytes::mib(72), Bytes::mib(72)));
        assert!(note.contains("12 MiB, as the device claims"), "{note}");
        let (place, note) = of(None);
        assert_eq!(place, (Bytes::mib(64), Bytes::mib(64)));
        assert!(note.contains("4 MiB are assumed"), "{note}");
    }
}
