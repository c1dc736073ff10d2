//! The apps that come along.

use crate::definition::Definition;

const APPS: [(&str, &str); 15] = [
    ("camera", include_str!("../apps/camera.toml")),
    ("web", include_str!("../apps/web.toml")),
    ("contacts", include_str!("../apps/contacts.toml")),
    ("install", include_str!("../apps/install.toml")),
    ("media-scan", include_str!("../apps/media-scan.toml")),
    ("gallery", include_str!("../apps/gallery.toml")),
    ("messenger", include_str!("../apps/messenger.toml")),
    ("boot", include_str!("../apps/boot.toml")),
    ("ota", include_str!("../apps/ota.toml")),
    ("flash", include_str!("../apps/flash.toml")),
    ("factory-reset", include_str!("../apps/factory-reset.toml")),
    ("playback", include_str!("../apps/playback.toml")),
    ("androbench-sqlite", include_str!("../apps/androbench-sqlite.toml")),
    ("mobibench-sqlite", include_str!("../apps/mobibench-sqlite.toml")),
    ("rlbench-sqlite", include_str!("../apps/rlbench-sqlite.toml")),
];

/// Their names, in the order in which people should see them.
pub fn names() -> impl Iterator<Item = &'static str> {
    APPS.iter().map(|(name, _)| *name)
}

/// The app of this name; `None` where there is none.
///
/// # Panics
/// Never: a test reads every one of them.
pub fn app(name: &str) -> Option<Definition> {
    let (_, text) = APPS.iter().find(|(other, _)| *other == name)?;
    Some(Definition::parse(text).expect("a test reads every app that comes along"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::MAIN;
    use crate::script::Script;

    #[test]
    fn every_app_makes_sense_bears_its_name_and_does_something() {
        for (name, text) in APPS {
            let app = Definition::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(app.name, name);
            let script = Script::new(&app, MAIN, app.rounds.min(3), 7).after(Script::preparation(&app, 7));
            let length = script.length();
            assert_eq!(script.count() as u64, length, "{name}");
            assert!(length > 0, "{name}");
        }
        assert_eq!(app("no-such"), None);
    }
}
