//! Whose measurement a file holds. A measurement of another device may be all that is left of it, so that a record is never
//! replaced by the record of something else, unless the operator says so (`--force`).

use crate::error::Failure;
use flashscope_device::{Refusal, RefusalKind};
use flashscope_host::{Output, SysRoot};
use flashscope_model::{DeviceFacts, Envelope};
use std::path::Path;

/// What is measured, as far as a record tells it from something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whose {
    /// As typed.
    target: String,
    /// The device's identity, where it has one: another card may be in the same slot today.
    identity: Option<String>,
}

impl Whose {
    /// Of a device that is open.
    pub(crate) fn of(target: &str, facts: &DeviceFacts) -> Whose {
        let identity = facts.identity.as_ref().map(|identity| identity.0.clone());
        Whose { target: target.to_owned(), identity }
    }

    /// Of what is not open yet; a disk or partition is looked up.
    pub(crate) fn named(target: &str) -> Whose {
        let node = Path::new(target).canonicalize().ok().filter(|node| node.starts_with("/dev"));
        let identity = node.and_then(|node| {
            let disk = flashscope_host::disk_under(&SysRoot::live(), &node)?;
            let partition = disk.partitions.into_iter().find(|partition| partition.path == node);
            let whole = (disk.path == node).then_some(disk.identity);
            whole.or(partition.map(|partition| partition.identity))
        });
        Whose { target: target.to_owned(), identity: identity.map(|identity| identity.0) }
    }

    fn of_record(envelope: &Envelope) -> Whose {
        let identity = envelope.device.as_ref().and_then(|device| device.identity.as_ref());
        Whose { target: envelope.target.clone(), identity: identity.map(|identity| identity.0.clone()) }
    }

    /// What tells it from others of its model, in a word: the serial number, else the model's name.
    pub(crate) fn word(&self) -> &str {
        // `SERIAL:BYTES`, `MODEL:BYTES` or `loop:BACKING_PATH`.
        let serial = self.identity.as_deref().filter(|identity| !identity.starts_with("loop:"));
        let serial = serial.and_then(|identity| identity.rsplit_once(':')).map(|(serial, _)| serial);
        let named = self.target.strip_prefix("sim:").unwrap_or(&self.target);
        serial.unwrap_or(named.strip_suffix(".toml").unwrap_or(named))
    }

    fn is_same(&self, other: &Whose) -> bool {
        match (&self.identity, &other.identity) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.target == other.target,
        }
    }

    /// Whether a file holds a record of something else.
    pub(crate) fn is_anothers(&self, file: &Path) -> bool {
        kept_in(file).is_some_and(|there| !self.is_same(&Whose::of_record(&there)))
    }

    /// Refuses to replace a record of something else.
    pub(crate) fn guard(&self, force: bool, output: &Output) -> Result<(), Failure> {
        match kept_in(output.path()) {
            Some(there) if !force && !self.is_same(&Whose::of_record(&there)) => {
                Err(refusal(output.path(), format!("the record of another target, {}", there.target)))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses to replace a record of another measurement, be it of the same device, by one that only says again what `mine` says.
pub(crate) fn guard_measurement(mine: &Envelope, force: bool, output: &Output) -> Result<(), Failure> {
    let when = |envelope: &Envelope| (envelope.session.clone(), envelope.started.clone());
    match kept_in(output.path()) {
        Some(there)
            if !force && (!Whose::of_record(mine).is_same(&Whose::of_record(&there)) || when(mine) != when(&there)) =>
        {
            let measured = there.started.iter().map(|started| format!(", {started}")).collect::<String>();
            Err(refusal(output.path(), format!("another measurement, {} {}{measured}", there.command, there.target)))
        }
        _ => Ok(()),
    }
}

/// What the record in a file says of itself; `None` where there is none.
fn kept_in(file: &Path) -> Option<Envelope> {
    let text = std::fs::read_to_string(file).ok().filter(|text| text.trim_start().starts_with('{'))?;
    flashscope_record::read(&text).ok().map(|record| record.envelope().clone())
}

fn refusal(path: &Path, what: String) -> Failure {
    let refusal = Refusal {
        kind: RefusalKind::NoConsent,
        what: format!("{} holds {what}", path.display()),
        release: Some("name another file, or add --force: that record is then lost".to_owned()),
    };
    Failure::Refused { target: path.display().to_string(), writing: true, refusals: vec![refusal] }
}
