//! The plans that come along.

use crate::plan::Plan;

const PLANS: [(&str, &str); 3] = [
    ("emcp-replacement", include_str!("../plans/emcp-replacement.toml")),
    ("emmc-second-source", include_str!("../plans/emmc-second-source.toml")),
    ("sd-for-boards", include_str!("../plans/sd-for-boards.toml")),
];

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    PLANS.iter().map(|(name, _)| *name)
}

/// The plan of this name; `None` where there is none.
///
/// # Panics
/// Never: a test reads every one of them.
pub fn shipped(name: &str) -> Option<Plan> {
    let (_, text) = PLANS.iter().find(|(other, _)| *other == name)?;
    Some(Plan::parse(text).expect("a test reads every plan that comes along"))
}

/// What the device below ext4 was given by each app at its default rounds: recorded by `app NAME sim:emmc-phone,capacity=2GiB
/// --speed max --repeat 1 --trace FILE`, so that the times between requests are the kernel's and the player's.
const TRACES: [(&str, &[u8]); 4] = [
    ("ota", include_bytes!("../traces/ota.fstrace")),
    ("factory-reset", include_bytes!("../traces/factory-reset.fstrace")),
    ("boot", include_bytes!("../traces/boot.fstrace")),
    ("contacts", include_bytes!("../traces/contacts.fstrace")),
];

/// The trace of an app that comes along; `None` where none does.
pub fn trace(app: &str) -> Option<&'static [u8]> {
    TRACES.iter().find(|(name, _)| *name == app).map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_makes_sense_bears_its_name_and_has_a_short_form() {
        for name in names() {
            let plan = shipped(name).expect("it is there");
            assert_eq!(plan.name, name);
            let quick = plan.quick().unwrap_or_else(|| panic!("{name} has no short form"));
            assert!(!quick.cannot_decide.is_empty() && quick.blocks < plan.blocks, "{name}");
        }
        assert_eq!(shipped("no-such"), None);
    }
}
