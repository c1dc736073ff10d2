//! What the kernel's error numbers mean when they come from a block device.

use rustix::io::Errno;

/// An error number as `EIO: input/output error`, in the words of the block layer where those say more
/// than the classic text.
pub(crate) fn describe(errno: Errno) -> String {
    KNOWN
        .iter()
        .find(|(known, _, _)| *known == errno)
        .map(|(_, name, text)| format!("{name}: {text}"))
        .unwrap_or_else(|| format!("errno {}: unknown error", errno.raw_os_error()))
}

/// What to make of an error number that came back from a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The device (or its file system) failed this request: data, the run goes on.
    Failed,
    /// The device is gone.
    Vanished,
    /// Our own doing or the system's: the measurement cannot go on.
    System,
}

/// Sorts an error number. Whatever is not known to be our own fault is taken as the device's word.
pub(crate) fn judge(errno: Errno) -> Verdict {
    match errno {
        Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM => Verdict::Vanished,
        Errno::BADF | Errno::FAULT | Errno::INVAL | Errno::NOMEM | Errno::PERM | Errno::ACCESS | Errno::ISDIR => {
            Verdict::System
        }
        _ => Verdict::Failed,
    }
}

/// Meanings as in `block/blk-core.c` (`blk_errors`) for those that the block layer gives back, else POSIX.
const KNOWN: &[(Errno, &str, &str)] = &[
    (Errno::IO, "EIO", "input/output error"),
    (Errno::NODATA, "ENODATA", "critical medium error"),
    (Errno::REMOTEIO, "EREMOTEIO", "critical target error"),
    (Errno::TIMEDOUT, "ETIMEDOUT", "timeout error"),
    (Errno::NOLINK, "ENOLINK", "recoverable transport error"),
    (Errno::ILSEQ, "EILSEQ", "protection error"),
    (Errno::BADE, "EBADE", "reservation conflict"),
    (Errno::NOSPC, "ENOSPC", "no space left"),
    (Errno::OPNOTSUPP, "EOPNOTSUPP", "operation not supported"),
    (Errno::NODEV, "ENODEV", "no such device"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::NOMEDIUM, "ENOMEDIUM", "no medium found"),
    (Errno::MEDIUMTYPE, "EMEDIUMTYPE", "wrong medium type"),
    (Errno::ROFS, "EROFS", "read-only file system or device"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::BUSY, "EBUSY", "device or resource busy"),
    (Errno::INVAL, "EINVAL", "invalid argument"),
    (Errno::BADF, "EBADF", "bad file descriptor"),
    (Errno::FAULT, "EFAULT", "bad address"),
    (Errno::NOMEM, "ENOMEM", "out of memory"),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::INTR, "EINTR", "interrupted"),
    (Errno::FBIG, "EFBIG", "file too large"),
    (Errno::DQUOT, "EDQUOT", "disk quota exceeded"),
    (Errno::ISDIR, "EISDIR", "is a directory"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::LOOP, "ELOOP", "too many symbolic links"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::TXTBSY, "ETXTBSY", "file in use as a program or swap"),
    (Errno::NOSYS, "ENOSYS", "not in this kernel"),
    (Errno::NOTTY, "ENOTTY", "not for this kind of file"),
    (Errno::OVERFLOW, "EOVERFLOW", "value too large"),
    (Errno::STALE, "ESTALE", "stale file handle"),
    (Errno::SHUTDOWN, "ESHUTDOWN", "transport was shut down"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_named() {
        let check = |errno, expect: &str| assert_eq!(describe(errno), expect);
        check(Errno::IO, "EIO: input/output error");
        check(Errno::NODATA, "ENODATA: critical medium error");
        check(Errno::from_raw_os_error(113), "errno 113: unknown error");
    }

    #[test]
    fn a_failing_device_is_data_and_a_missing_one_is_not() {
        let check = |errno, expect| assert_eq!(judge(errno), expect, "{}", describe(errno));
        check(Errno::IO, Verdict::Failed);
        check(Errno::TIMEDOUT, Verdict::Failed);
        check(Errno::NOSPC, Verdict::Failed);
        check(Errno::NXIO, Verdict::Vanished);
        check(Errno::NODEV, Verdict::Vanished);
        check(Errno::NOMEDIUM, Verdict::Vanished);
        check(Errno::INVAL, Verdict::System);
    }
}
