//! The models that come with flashscope, each a file that a user can copy and change.

/// One model of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, as in `sim:NAME`.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The model file.
    pub toml: &'static str,
}

/// Name and model file of each model, in the order of `sim list`.
const FILES: &[(&str, &str)] = &[
    ("sd-4mib", include_str!("../catalogue/sd-4mib.toml")),
    ("emmc-write-align", include_str!("../catalogue/emmc-write-align.toml")),
    ("emmc-phone", include_str!("../catalogue/emmc-phone.toml")),
    ("emmc-cached", include_str!("../catalogue/emmc-cached.toml")),
    ("sd-24mib", include_str!("../catalogue/sd-24mib.toml")),
    ("sd-worn", include_str!("../catalogue/sd-worn.toml")),
    ("sd-flat", include_str!("../catalogue/sd-flat.toml")),
    ("ssd-consumer", include_str!("../catalogue/ssd-consumer.toml")),
    ("ssd-budget", include_str!("../catalogue/ssd-budget.toml")),
    ("card-3", include_str!("../catalogue/card-3.toml")),
    ("card-5", include_str!("../catalogue/card-5.toml")),
    ("card-9", include_str!("../catalogue/card-9.toml")),
    ("card-15", include_str!("../catalogue/card-15.toml")),
    ("card-27", include_str!("../catalogue/card-27.toml")),
    ("card-readme", include_str!("../catalogue/card-readme.toml")),
];

/// All models, the demo first.
pub fn catalogue() -> Vec<Entry> {
    FILES.iter().map(|&(name, toml)| Entry { name, title: title(toml), toml }).collect()
}

/// The model file of that name.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, toml)| *toml)
}

/// The `title = "…"` of a file that is known to be valid (a test opens them all).
fn title(toml: &'static str) -> &'static str {
    toml.lines().find_map(|line| line.strip_prefix("title = \"")?.split('"').next()).unwrap_or_default()
}
