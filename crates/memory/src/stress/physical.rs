//! Physical addresses, where the kernel tells.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// What the kernel tells of each page of this program: eight bytes, bits 0 to 54 the number of the physical page where bit 63 says that
/// there is one (Documentation/admin-guide/mm/pagemap.rst). To most users it tells 0 for the number.
#[derive(Debug)]
pub(super) struct Addresses {
    pages: Option<File>,
    page: u64,
}

impl Addresses {
    pub(super) fn open() -> Addresses {
        Addresses { pages: File::open("/proc/self/pagemap").ok(), page: rustix::param::page_size() as u64 }
    }

    /// The physical address of a byte of this program; `None` where the kernel does not tell.
    pub(super) fn of(&self, address: u64) -> Option<u64> {
        let mut entry = [0; 8];
        self.pages.as_ref()?.read_exact_at(&mut entry, address / self.page * 8).ok()?;
        number(u64::from_ne_bytes(entry)).map(|number| number * self.page + address % self.page)
    }

    /// Whether it tells any.
    pub(super) fn are_told(&self) -> bool {
        let here = [1u8];
        self.of(here.as_ptr().addr() as u64).is_some()
    }
}

fn number(entry: u64) -> Option<u64> {
    let is_present = entry >> 63 == 1;
    Some(entry & ((1 << 55) - 1)).filter(|number| is_present && *number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_there_or_not_told_has_no_address() {
        assert_eq!(number(1 << 63 | 1 << 55 | 0x1234), Some(0x1234));
        assert_eq!((number(0x1234), number(1 << 63)), (None, None));
    }
}
