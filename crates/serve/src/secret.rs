//! Secrets: from the operating system's randomness, compared in constant time, never printed by accident.

use anyhow::{Context, Result, anyhow};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use subtle::ConstantTimeEq;

/// Bytes of randomness in a secret: nobody guesses 256 bits.
const BYTES: usize = 32;

/// Something that only who was told may know, as hexadecimal digits.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(crate) fn new() -> Result<Secret> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random numbers: {error}"))?;
        Ok(Secret(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The one in a file, which is made where there is none, readable by its owner alone.
    ///
    /// # Errors
    /// The file cannot be used, holds something else, or others may read it.
    pub(crate) fn of_file(path: &Path) -> Result<Secret> {
        let shown = path.display();
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => {
                let secret = Secret::new()?;
                file.write_all(format!("{}\n", secret.0).as_bytes())
                    .with_context(|| format!("cannot write {shown}"))?;
                return Ok(secret);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {shown}")),
        }
        let mode = std::fs::metadata(path).with_context(|| format!("cannot use {shown}"))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(anyhow!("others may read the token in {shown}\nhint: chmod 600 {shown}, or name another file"));
        }
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let text = text.trim();
        if text.len() != 2 * BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(anyhow!(
                "{shown} holds no token ({} hexadecimal digits)\nhint: name a file that is not there yet; it is made",
                2 * BYTES
            ));
        }
        Ok(Secret(text.to_owned()))
    }

    /// Whether this is it. How long that takes tells nothing of where the two differ.
    pub(crate) fn is(&self, said: &str) -> bool {
        self.0.as_bytes().ct_eq(said.as_bytes()).into()
    }

    /// It, for the one place where it is told.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_only_the_whole_of_one_is_it() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert!(one.is(one.reveal()) && !one.is(other.reveal()));
        assert!(!one.is("") && !one.is(&one.reveal()[1..]) && !one.is(&format!("{}0", one.reveal())));
        assert_eq!((one.reveal().len(), format!("{one:?}").as_str()), (64, "Secret"));
    }
}
