//! What a plain file holds: nothing, what flashscope wrote, or somebody's data, and then of what kind.
//!
//! A device is named by its identity before it is written to; a file only by its path, where a slip of the finger names a photo.

use crate::payload;

/// Looks for data that is neither ours nor nothing in the parts of a file that are no holes (offset and length each), and says what it
/// is. Up to [`ALL`] bytes are all looked at; of more, pieces throughout, the first and the last among them. `read` gives the bytes of a
/// range, or why it cannot.
pub(crate) fn find<E>(
    extents: &[(u64, u64)],
    mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, E>,
) -> Result<Option<String>, E> {
    for (at, length) in pieces(extents) {
        let bytes = read(at, length)?;
        if !payload::is_ours(at, &bytes) {
            let is_start = at == 0;
            return Ok(Some(match kind_of(&bytes).filter(|_| is_start) {
                Some(kind) => kind.to_owned(),
                None => "data that flashscope did not write".to_owned(),
            }));
        }
    }
    Ok(None)
}

/// Read in full up to here: a second or so of a slow card.
const ALL: u64 = 16 << 20;
/// Length of a piece where not all is read.
const PIECE: u64 = 64 << 10;

/// Number of parts whose beginnings are looked at, besides what the pieces meet.
const PARTS: usize = 4096;

/// Offset and length of what is looked at; offsets are multiples of 8, as tags are.
fn pieces(extents: &[(u64, u64)]) -> Vec<(u64, usize)> {
    let total: u64 = extents.iter().map(|(_, length)| length).sum();
    // Pieces begin at equal distances in all parts laid end to end.
    let stride = if total <= ALL { PIECE } else { (total - PIECE).div_ceil(ALL / PIECE - 1) };
    let (mut found, mut before) = (Vec::new(), 0_u64);
    let piece = |start: u64, length: u64, at: u64| {
        let from = (start + at) / 8 * 8;
        (from, (start + length - from).min(PIECE) as usize)
    };
    for (number, &(start, length)) in extents.iter().enumerate() {
        let first = before.div_ceil(stride) * stride - before;
        if first > 0 && number < PARTS {
            found.push(piece(start, length, 0));
        }
        found.extend((first..length).step_by(stride as usize).map(|at| piece(start, length, at)));
        before += length;
    }
    found.extend(extents.last().map(|&(start, length)| piece(start, length, length.saturating_sub(PIECE))));
    found
}

/// What data is by how it begins; `None` where that tells nothing.
fn kind_of(start: &[u8]) -> Option<&'static str> {
    let begins = |kind: &&Kind| start.get(kind.at..).is_some_and(|rest| rest.starts_with(kind.bytes));
    KINDS.iter().find(begins).map(|kind| kind.name).or_else(|| is_text(start).then_some("text"))
}

/// Whether bytes are text in UTF-8: nothing but characters, and of control characters those that texts have.
fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    // What lies between a short text and the end of its block is nothing.
    let text = text.trim_end_matches('\0');
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !"\n\r\t\u{c}\u{8}\u{1b}".contains(c))
}

struct Kind {
    name: &'static str,
    at: usize,
    bytes: &'static [u8],
}

const fn kind(name: &'static str, at: usize, bytes: &'static [u8]) -> Kind {
    Kind { name, at, bytes }
}

/// How well-known formats begin, each by its own definition.
const KINDS: &[Kind] = &[
    kind("a ZIP archive", 0, b"PK\x03\x04"),                  // APPNOTE.TXT 4.3.7
    kind("an empty ZIP archive", 0, b"PK\x05\x06"),           // APPNOTE.TXT 4.3.16
    kind("a gzip file", 0, b"\x1f\x8b"),                      // RFC 1952
    kind("an xz file", 0, b"\xfd7zXZ\0"),                     // The .xz File Format 2.1.1.1
    kind("a Zstandard file", 0, b"\x28\xb5\x2f\xfd"),         // RFC 8878
    kind("a bzip2 file", 0, b"BZh"),                          // bzip2's manual
    kind("an LZ4 file", 0, b"\x04\x22\x4d\x18"),              // LZ4 Frame Format
    kind("a 7-Zip archive", 0, b"7z\xbc\xaf\x27\x1c"),        // 7zFormat.txt
    kind("a RAR archive", 0, b"Rar!\x1a\x07"),                // RAR 5.0 archive format
    kind("a tar archive", 257, b"ustar"),                     // POSIX.1 pax
    kind("an ar archive or Debian package", 0, b"!<arch>\n"), // ar(5)
    kind("an RPM package", 0, b"\xed\xab\xee\xdb"),           // RPM file format, lead
    kind("a cpio archive", 0, b"07070"),                      // cpio(5)
    kind("an SQLite database", 0, b"SQLite format 3\0"),      // Database File Format 1.3
    kind("a PDF document", 0, b"%PDF-"),                      // ISO 32000
    kind("an office document (OLE)", 0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), // [MS-CFB] 2.2
    kind("a PNG picture", 0, b"\x89PNG\r\n\x1a\n"),           // ISO 15948
    kind("a JPEG picture", 0, b"\xff\xd8\xff"),               // ISO 10918
    kind("a GIF picture", 0, b"GIF8"),                        // GIF89a
    kind("a TIFF or raw picture", 0, b"II*\0"),               // TIFF 6.0
    kind("a TIFF or raw picture", 0, b"MM\0*"),               // TIFF 6.0
    kind("a RIFF file (WAV, AVI, WebP)", 0, b"RIFF"),         // Multimedia Programming Interface 1.0
    kind("a film or picture (MP4, MOV, HEIF)", 4, b"ftyp"),   // ISO 14496-12
    kind("a film (Matroska, WebM)", 0, b"\x1a\x45\xdf\xa3"),  // RFC 8794
    kind("a sound file (FLAC)", 0, b"fLaC"),                  // RFC 9639
    kind("a sound file (Ogg)", 0, b"OggS"),                   // RFC 3533
    kind("a sound file (MP3)", 0, b"ID3"),                    // ID3v2.4
    kind("a program or library", 0, b"\x7fELF"),              // System V ABI
    kind("a program or library", 0, b"MZ"),                   // PE format
    kind("an HDF5 file", 0, b"\x89HDF\r\n\x1a\n"),            // HDF5 file format 2
    kind("a key store or certificate", 0, b"\x30\x82"),       // X.690: a long sequence
];

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::Fill;

    fn found(file: &[u8], extents: &[(u64, u64)]) -> Option<String> {
        let read = |at: u64, length: usize| Ok::<_, ()>(file[at as usize..at as usize + length].to_vec());
        find(extents, read).unwrap()
    }

    fn whole(file: &[u8]) -> Option<String> {
        found(file, &[(0, file.len() as u64)])
    }

    #[test]
    fn nothing_and_what_is_ours_is_free() {
        let mut ours = vec![0; 1 << 20];
        payload::fill(Fill::Tagged { generation: 3 }, 0, &mut ours[..512 << 10]);
        for file in [&[][..], &[0; 5], &[0; 100_000], &[0xff; 4096], &ours] {
            assert_eq!(whole(file), None);
        }
    }

    #[test]
    fn data_is_named() {
        let check = |start: &[u8], expect: &str| {
            let varied = (0..100_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
            let file: Vec<u8> = start.iter().copied().chain(varied).collect();
            assert_eq!(whole(&file).as_deref(), Some(expect));
        };
        check(b"PK\x03\x04\x14\0\x08\0", "a ZIP archive");
        check(b"SQLite format 3\0", "an SQLite database");
        check(b"\0\0\0\x20ftypisom", "a film or picture (MP4, MOV, HEIF)");
        check(b"", "data that flashscope did not write");
        assert_eq!(whole("Grüße\n".repeat(50_000).as_bytes()).as_deref(), Some("text"));
        assert_eq!(whole(b"two words").as_deref(), Some("text"));
        let short: Vec<u8> = b"a note\n".iter().copied().chain([0; 4089]).collect();
        assert_eq!(whole(&short).as_deref(), Some("text"));
    }

    #[test]
    fn a_little_among_much_is_found_where_all_is_read() {
        let mut file = vec![0; 4 << 20];
        file[3_000_000] = 1;
        assert_eq!(whole(&file).as_deref(), Some("data that flashscope did not write"));
        // Where the file has holes, its other parts are few.
        assert_eq!(found(&file, &[(0, 4096)]), None);
        assert!(found(&file, &[(0, 4096), (2_998_272, 4096)]).is_some());
    }

    #[test]
    fn pieces_cover_small_files_and_reach_through_large_ones() {
        let covered = |extents: &[(u64, u64)]| {
            let mut pieces = pieces(extents);
            pieces.sort_unstable();
            pieces
        };
        let all = covered(&[(0, 200_000), (300_000, 10)]);
        for byte in (0..200_000).chain(300_000..300_010) {
            assert!(all.iter().any(|(at, length)| (*at..at + *length as u64).contains(&byte)), "{byte}");
        }
        let far = covered(&[(0, 1 << 40)]);
        assert_eq!((far.len(), far[0].0), (257, 0));
        assert_eq!(far.iter().max().map(|(at, length)| at + *length as u64), Some(1 << 40));
        // Many small parts: each is looked at.
        let parts: Vec<(u64, u64)> = (0..1000).map(|part| (part << 30, 1 << 20)).collect();
        let looked = covered(&parts);
        assert!(parts.iter().all(|(start, _)| looked.iter().any(|(at, _)| at == start)));
    }
}
