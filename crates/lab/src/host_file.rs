//! What only the host itself says: which devices may be written to, and what the names of commands stand for. A file on
//! that host, never a part of a plan.

use crate::plan::PlanError;
use crate::work::is_name;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The host's own file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostFile {
    /// Identities of the devices whose content may be destroyed.
    #[serde(default)]
    pub destroy_data: Vec<String>,
    /// How many real devices may be under way at once, as was measured on this host.
    pub at_once: Option<u32>,
    /// Commands that cut and restore power, by the names that plans use.
    #[serde(default)]
    pub power: BTreeMap<String, Power>,
    /// Commands of the product, by the names that requirements use (`external = "NAME"`).
    #[serde(default)]
    pub external: BTreeMap<String, String>,
}

/// The two commands of one device's power.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Cuts it.
    pub off: String,
    /// Brings it back.
    pub on: String,
}

impl HostFile {
    /// Reads the file.
    ///
    /// # Errors
    /// It is not TOML, or holds something else.
    pub fn read(text: &str) -> Result<HostFile, PlanError> {
        let file: HostFile = toml::from_str(text).map_err(|error| PlanError {
            what: format!("it is no file of a lab host: {}", error.to_string().trim_end()),
            hint: "it has destroy-data = [IDENTITIES], at-once = N, [power.NAME] with off and on, and [external] with NAME = COMMAND"
                .to_owned(),
        })?;
        match file.power.keys().chain(file.external.keys()).find(|name| !is_name(name)) {
            Some(name) => Err(PlanError {
                what: format!("'{name}' is no name for commands"),
                hint: "take letters, digits, hyphens and low lines".to_owned(),
            }),
            None => Ok(file),
        }
    }

    /// The text of a host's file with this limit in it; every other line stays as it is.
    pub fn with_at_once(text: &str, at_once: u32) -> String {
        let line = format!("at-once = {at_once}");
        // A key behind the head of a table would be one of that table.
        let is_key = |line: &&str| line.split_once('=').is_some_and(|(key, _)| key.trim() == "at-once");
        let head = text.lines().take_while(|line| !line.trim_start().starts_with('['));
        match head.enumerate().find(|(_, line)| is_key(line)) {
            Some((place, _)) => {
                let lines = text.lines().enumerate().map(|(at, other)| if at == place { line.as_str() } else { other });
                lines.map(|line| format!("{line}\n")).collect()
            }
            None => format!("{line}\n{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_set_and_all_else_stays() {
        let power = "[power.a]\noff = \"x\"\non = \"at-once = 3\"\n";
        assert_eq!(HostFile::with_at_once("", 8), "at-once = 8\n");
        assert_eq!(HostFile::with_at_once(power, 8), format!("at-once = 8\n{power}"));
        let before = format!("# ours\ndestroy-data = [\n\"a\"]\n at-once=64 # all\n{power}");
        let after = HostFile::with_at_once(&before, 8);
        assert_eq!(after, format!("# ours\ndestroy-data = [\n\"a\"]\nat-once = 8\n{power}"));
        assert_eq!(HostFile::read(&after).unwrap().at_once, Some(8));
    }

    #[test]
    fn a_host_file_is_read_and_nothing_else() {
        let text = "destroy-data = [\"0x1c:79\"]\nat-once = 8\n[power.rack-3]\noff = \"uhubctl -a off\"\non = \"uhubctl -a on\"\n\
                    [external]\nota = \"/opt/ota.sh --slot b\"\n";
        let file = HostFile::read(text).unwrap();
        assert_eq!(file.power["rack-3"].off, "uhubctl -a off");
        assert_eq!(file.external["ota"], "/opt/ota.sh --slot b");
        assert_eq!((file.destroy_data.len(), file.at_once), (1, Some(8)));
        assert_eq!(HostFile::read("").unwrap(), HostFile::default());
        assert!(
            HostFile::read("allow = true").is_err() && HostFile::read("[power.\"a b\"]\noff=\"x\"\non=\"y\"").is_err()
        );
    }
}
