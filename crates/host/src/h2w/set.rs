//! Which `.h2w` files there are in a directory.

use super::EACH;
use crate::error::HostError;
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, statat};
use std::collections::BTreeMap;
use std::path::Path;

/// Numbers and sizes of the `.h2w` files of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct H2wSet {
    sizes: BTreeMap<u32, Bytes>,
}

impl H2wSet {
    pub(super) fn of(folder: &OwnedFd, path: &Path) -> Result<H2wSet, HostError> {
        let failed = |error| HostError::from_errno("list", path, error);
        let mut sizes = BTreeMap::new();
        for entry in Dir::read_from(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Some(number) = entry.file_name().to_str().ok().and_then(number) else { continue };
            let found = statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
            if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile {
                sizes.insert(number, Bytes(found.st_size as u64));
            }
        }
        Ok(H2wSet { sizes })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The space that they make: from the first file, whether it is there or not, to the end of the last.
    pub fn space(&self) -> Bytes {
        self.sizes.last_key_value().map_or(Bytes::ZERO, |(number, size)| super::start_of(*number) + *size)
    }

    /// What is not as a whole set is, a few words each: numbers that are missing, and files that end early with others behind them.
    pub fn lacks(&self) -> Vec<String> {
        let Some((last, _)) = self.sizes.last_key_value() else { return Vec::new() };
        let lack = |number: u32| match self.sizes.get(&number) {
            None => Some(format!("{number}.h2w is missing")),
            Some(size) if *size < EACH => Some(format!("{number}.h2w holds {size} of {EACH}")),
            Some(_) => None,
        };
        (1..*last).filter_map(lack).collect()
    }
}

/// The number in the name of a file: `12.h2w`, without zeros in front.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".h2w")?;
    digits.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_and_nothing_else() {
        for (name, expect) in [
            ("1.h2w", Some(1)),
            ("120.h2w", Some(120)),
            ("0.h2w", None),
            ("01.h2w", None),
            ("+1.h2w", None),
            ("a.h2w", None),
            ("1.h2w.bak", None),
        ] {
            assert_eq!(number(name), expect, "{name}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let set = |sizes: &[(u32, Bytes)]| H2wSet { sizes: sizes.iter().copied().collect() };
        let whole = set(&[(1, EACH), (2, Bytes::mib(5))]);
        assert_eq!((whole.space(), whole.lacks()), (EACH + Bytes::mib(5), Vec::new()));
        let holed = set(&[(1, Bytes::mib(3)), (3, EACH)]);
        assert_eq!(holed.lacks(), ["1.h2w holds 3 MiB of 1 GiB", "2.h2w is missing"]);
        assert_eq!(holed.space(), EACH * 3);
        assert_eq!(set(&[]).space(), Bytes::ZERO);
    }
}
