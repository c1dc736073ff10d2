//! What only the host itself says: which devices may be written to, and what the names of power commands stand for. A file on
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
            hint: "it has destroy-data = [IDENTITIES], at-once = N and [power.NAME] with off and on".to_owned(),
        })?;
        match file.power.keys().find(|name| !is_name(name)) {
            Some(name) => Err(PlanError {
                what: format!("'{name}' is no name for power commands"),
                hint: "take letters, digits, hyphens and low lines".to_owned(),
            }),
            None => Ok(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_file_is_read_and_nothing_else() {
        let text = "destroy-data = [\"0x1c:79\"]\nat-once = 8\n[power.rack-3]\noff = \"uhubctl -a off\"\non = \"uhubctl -a on\"\n";
        let file = HostFile::read(text).unwrap();
        assert_eq!(file.power["rack-3"].off, "uhubctl -a off");
        assert_eq!((file.destroy_data.len(), file.at_once), (1, Some(8)));
        assert_eq!(HostFile::read("").unwrap(), HostFile::default());
        assert!(
            HostFile::read("allow = true").is_err() && HostFile::read("[power.\"a b\"]\noff=\"x\"\non=\"y\"").is_err()
        );
    }
}
