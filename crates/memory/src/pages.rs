//! Which pages the kernel gave, by what it tells of this program.

use flashscope_kernels::Buffer;

/// Share of a buffer that lies in huge pages; `None` where the kernel does not tell.
pub(crate) fn huge_share(buffer: &Buffer) -> Option<f64> {
    let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let (from, to) = (buffer.address() as u64, (buffer.address() + buffer.len()) as u64);
    Some((huge_bytes(&smaps, from, to)? as f64 / buffer.len() as f64).min(1.0))
}

/// Bytes in huge pages of the mappings that reach into the range.
fn huge_bytes(smaps: &str, from: u64, to: u64) -> Option<u64> {
    let mut inside = false;
    let mut found = None;
    for line in smaps.lines() {
        if let Some((begin, end)) = range(line) {
            inside = begin < to && end > from;
        } else if let Some(rest) = line.strip_prefix("AnonHugePages:").filter(|_| inside) {
            let kib: u64 = rest.trim().strip_suffix(" kB")?.trim().parse().ok()?;
            *found.get_or_insert(0) += kib << 10;
        }
    }
    found
}

/// The first line of a mapping begins with its addresses.
fn range(line: &str) -> Option<(u64, u64)> {
    let (begin, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_kernels::Pages;

    const SMAPS: &str = "\
7f0000000000-7f0000200000 rw-p 00000000 00:00 0
Size:               2048 kB
AnonHugePages:         0 kB
7f0000200000-7f0000800000 rw-p 00000000 00:00 0
Size:               6144 kB
AnonHugePages:      4096 kB
7f0000800000-7f0000a00000 rw-p 00000000 00:00 0
AnonHugePages:      2048 kB
";

    #[test]
    fn only_the_mappings_of_the_buffer_count() {
        let at = |mib: u64| 0x7f00_0000_0000 + (mib << 20);
        assert_eq!(huge_bytes(SMAPS, at(2), at(8)), Some(4 << 20));
        assert_eq!(huge_bytes(SMAPS, at(7), at(9)), Some(6 << 20));
        assert_eq!(huge_bytes(SMAPS, at(0), at(1)), Some(0));
        assert_eq!(huge_bytes(SMAPS, at(12), at(13)), None);
    }

    #[test]
    fn small_pages_are_not_huge() {
        let mut buffer = Buffer::new(4 << 20, Pages::Small).unwrap();
        buffer.words_mut().fill(1);
        // Under an emulator of another processor the kernel tells of that.
        assert!(huge_share(&buffer).is_none_or(|share| share == 0.0));
    }
}
