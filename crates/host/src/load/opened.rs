//! What a lane works on: one file, or several of the same size laid end to end.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// One file, or several of the same size laid end to end.
#[derive(Debug)]
pub(super) struct Opened {
    files: Vec<OwnedFd>,
    /// Bytes of each.
    each: u64,
}

impl Opened {
    /// At least one; `each` tells where one ends and the next begins.
    pub(super) fn new(files: Vec<OwnedFd>, each: u64) -> Opened {
        Opened { files, each: each.max(1) }
    }

    /// The file that a position lies in, by its number, and the position in it. A request that begins there must end there.
    #[inline]
    pub(super) fn place(&self, offset: u64) -> (usize, u64) {
        if self.files.len() == 1 {
            return (0, offset);
        }
        (((offset / self.each) as usize).min(self.files.len() - 1), offset % self.each)
    }

    /// The same with the file itself.
    #[inline]
    pub(super) fn at(&self, offset: u64) -> (&OwnedFd, u64) {
        let (file, offset) = self.place(offset);
        (&self.files[file], offset)
    }

    /// Bytes of each.
    #[inline]
    pub(super) fn each(&self) -> u64 {
        self.each
    }

    pub(super) fn all(&self) -> &[OwnedFd] {
        &self.files
    }

    /// The only one; `None` where there are several.
    pub(super) fn only(&self) -> Option<&OwnedFd> {
        if let [file] = &self.files[..] { Some(file) } else { None }
    }

    /// Makes all that was written durable.
    pub(super) fn flush(&self) -> Result<(), Errno> {
        self.files.iter().try_for_each(rustix::fs::fdatasync)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_find_their_file() {
        let files = |count: usize| (0..count).map(|_| std::fs::File::open("/dev/null").unwrap().into()).collect();
        let three = Opened::new(files(3), 4096);
        let check = |offset, expect| assert_eq!(three.place(offset), expect, "{offset}");
        check(0, (0, 0));
        check(4095, (0, 4095));
        check(4096, (1, 0));
        check(12287, (2, 4095));
        assert_eq!(Opened::new(files(1), 4096).place(1 << 40), (0, 1 << 40));
    }
}
