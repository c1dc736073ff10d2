//! The commands that the advice gives, tried: the data area really begins on a unit of the device.

#![allow(clippy::print_stderr)] // What is left out is said aloud.

use flashscope_infer::infer;
use flashscope_model::Observations;
use flashscope_model::observation::*;
use flashscope_model::{Data, Direction, Estimate};
use flashscope_units::{Bytes, Contrast};
use std::path::PathBuf;
use std::process::Command;

/// Align tables of a card with this unit and a page of 16 KiB, printed three times.
fn observations(unit: Bytes, capacity: Bytes) -> Observations {
    let printed = |micros: f64| {
        let (value, quantum) = (Contrast(micros * 1e3), Contrast(1e3));
        Some(Printed { value, quantum, statistic: Statistic::MeanOfMinima, places: Some(7), tries: Some(8) })
    };
    let mut runs = Vec::new();
    for repeat in 0..3 {
        let mut rows = Vec::new();
        let mut align = Bytes::gib(1);
        let mut wobble = repeat;
        while align >= Bytes::kib(4) {
            let step = if align >= unit {
                300.0
            } else if align >= Bytes::kib(16) {
                120.0
            } else {
                0.0
            };
            wobble = (wobble * 5 + 3) % 7;
            let (pre, post) = (700.0, 704.0);
            let on = 702.0 + step + f64::from(wobble);
            let evidence = AlignEvidence::Printed {
                pre: printed(pre),
                on: printed(on),
                post: printed(post),
                diff: printed(on - 0.5 * (pre + post)),
            };
            rows.push(AlignRow { align, evidence });
            align = align / 2;
        }
        runs.push(Run {
            source: Source::Log { first_line: 1, last_line: 20 },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data: Data::Align(AlignData { direction: Direction::Read, block: Some(Bytes::kib(1)), access: 1, rows }),
        });
    }
    Observations { capacity: Some(capacity), runs, ..Observations::default() }
}

/// A sparse file of a partition from its start to the end of the device, removed when done.
struct Partition(PathBuf);

impl Partition {
    fn new(name: &str, length: Bytes) -> Partition {
        let path = std::env::temp_dir().join(format!("flashscope-{}-{name}", std::process::id()));
        let file = std::fs::File::create_new(&path).expect("a file");
        file.set_len(length.get()).expect("a sparse file");
        Partition(path)
    }

    /// Runs a command with the file's name in place of `PARTITION`; `None` where the program is missing.
    fn run(&self, command: &str) -> Option<String> {
        let mut words = command.split_whitespace();
        let program = words.next()?;
        let words = words.map(|word| if word == "PARTITION" { self.0.as_os_str() } else { word.as_ref() });
        let output = match Command::new(program).args(words).output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                eprintln!("LEFT OUT: {program} is missing");
                return None;
            }
            output => output.expect("a program that starts"),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {text}");
        Some(text)
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn topic(unit: Bytes, capacity: Bytes, topic: &str) -> String {
    let findings = infer(&observations(unit, capacity));
    let found: &Estimate<Bytes> = &findings.geometry.allocation_unit;
    let advice = findings.advice.iter().find(|advice| advice.topic == topic);
    advice.unwrap_or_else(|| panic!("no advice on {topic}: {found:?}")).text.clone()
}

#[test]
fn mkfs_fat_puts_the_data_area_on_a_unit() {
    let unit = Bytes::mib(4);
    for capacity in [7_948_206_080, 3_965_190_144, 15_931_539_456, 31_914_983_424, 62_534_975_488] {
        let text = topic(unit, Bytes(capacity), "FAT");
        let command = &text[text.find("mkfs.fat").expect("a command")..];
        let partition = Partition::new("fat", Bytes(capacity) - unit);
        if partition.run(command).is_none() {
            return;
        }
        // It ends with 1 where it would like to repair something, which an empty file system gives no reason to.
        let Some(checked) = partition.run("fsck.fat -nv PARTITION") else { return };
        let line =
            checked.lines().find(|line| line.contains("Data area starts at byte")).expect("where the data begins");
        let byte: u64 = line.split_whitespace().find_map(|word| word.parse().ok()).expect("a figure");
        assert!(byte.is_multiple_of(unit.get()), "{capacity}: {command}: {line}");
    }
}

#[test]
fn mkfs_exfat_puts_its_clusters_on_a_unit() {
    let (unit, capacity) = (Bytes::mib(4), Bytes(62_534_975_488));
    let command = topic(unit, capacity, "exFAT");
    let partition = Partition::new("exfat", capacity - unit);
    if partition.run(&command).is_none() {
        return;
    }
    // Boot sector: FAT offset at 80, heap offset at 88, both in sectors; the shift of the sector size at 108.
    let boot = {
        use std::io::Read;
        let mut bytes = [0u8; 512];
        std::fs::File::open(&partition.0).and_then(|mut file| file.read_exact(&mut bytes)).expect("a boot sector");
        bytes
    };
    for at in [80, 88] {
        let sectors = u32::from_le_bytes(boot[at..at + 4].try_into().expect("four bytes"));
        let byte = u64::from(sectors) << boot[108];
        assert!(byte > 0 && byte.is_multiple_of(unit.get()), "{command}: {byte}");
    }
}
