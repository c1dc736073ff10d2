//! The power of the emulated device is cut while programs use it.

use super::support::{Aligned, CARD, Rig, can_fuse, can_loop, direct, synchronous};
use flashscope_emulate::{Speed, Stop};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BLOCK: usize = 4096;
/// A cache that keeps what nobody flushes until the power goes.
const VOLATILE: &str = "write_cache=1MiB,drain_after=never";

#[test]
fn what_was_flushed_stays_and_what_was_not_goes_also_after_a_restart() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},{VOLATILE}");
    options.backing = Some(rig.root.join("card.img"));
    let mut emulator = rig.start(options);
    let file = direct(&emulator.path());
    let mut buffer = Aligned::new(BLOCK);
    let mut write = |byte: u8, at: u64| {
        buffer.part(BLOCK).fill(byte);
        file.write_all_at(buffer.part(BLOCK), at).unwrap();
    };
    write(1, 0);
    write(1, BLOCK as u64);
    file.sync_all().unwrap();
    write(2, 0);
    emulator.cut_power().unwrap();
    let mut found = Aligned::new(BLOCK);
    let gone = file.read_exact_at(found.part(BLOCK), 0).unwrap_err();
    assert_eq!(Errno::from_io_error(&gone), Some(Errno::NODEV));
    assert!(file.sync_all().is_err(), "a device without power flushes nothing");
    // Once is enough.
    emulator.cut_power().unwrap();
    assert_eq!(emulator.power_on().unwrap(), Some("its power was cut"));
    assert_eq!(emulator.power_on().unwrap(), None);
    let mut look = |file: &fs::File| {
        [0, BLOCK as u64].map(|at| {
            file.read_exact_at(found.part(BLOCK), at).unwrap();
            found.part(BLOCK)[0]
        })
    };
    assert_eq!(look(&file), [1, 1]);
    file.write_all_at(&[3; BLOCK], BLOCK as u64).unwrap();
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    drop(emulator);

    // The cut is in the state file: what it took is gone next time as well, and what came behind it is there.
    let mut options = rig.options();
    options.model = format!("{CARD},{VOLATILE}");
    options.backing = Some(rig.root.join("card.img"));
    let emulator = rig.start(options);
    assert_eq!(look(&direct(&emulator.path())), [1, 3]);
}

#[test]
fn what_was_acknowledged_as_durable_stays_whenever_the_power_goes() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},{VOLATILE},reordered=true");
    options.speed = Speed::Times(5.0);
    let emulator = rig.start(options);
    for round in 0..6u64 {
        let stop = AtomicBool::new(false);
        let acknowledged: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let writer = |lane: u64| {
                let (stop, path) = (&stop, emulator.path());
                scope.spawn(move || {
                    let file = synchronous(&path);
                    let places = (0..4096).map(|index| (index * 4 + lane) * BLOCK as u64);
                    let written = places.take_while(|at| {
                        let byte = (round * 7 + at / BLOCK as u64 % 5) as u8;
                        !stop.load(Ordering::Relaxed) && file.write_all_at(&[byte; BLOCK], *at).is_ok()
                    });
                    written.collect()
                })
            };
            let writers: Vec<_> = (0..4).map(writer).collect();
            std::thread::sleep(Duration::from_millis(40 + round * 7));
            emulator.cut_power().unwrap();
            stop.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        emulator.power_on().unwrap();
        let file = direct(&emulator.path());
        let mut found = Aligned::new(BLOCK);
        assert!(acknowledged.iter().map(Vec::len).sum::<usize>() > 4, "too little was written to tell");
        for at in acknowledged.into_iter().flatten() {
            file.read_exact_at(found.part(BLOCK), at).unwrap();
            let byte = (round * 7 + at / BLOCK as u64 % 5) as u8;
            assert!(found.part(BLOCK).iter().all(|found| *found == byte), "round {round}, at {at}");
        }
    }
}

#[test]
fn a_device_that_comes_back_smaller_is_smaller_for_everybody() {
    let Some(rig) = Rig::new(can_loop()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},shrink=1.0,shrunk_to=64MiB");
    options.attach_loop = true;
    let emulator = rig.start(options);
    let size = || {
        let file =
            OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(emulator.path()).unwrap();
        (
            fs::metadata(rig.at.join("disk")).unwrap().len(),
            rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).unwrap(),
        )
    };
    assert_eq!(size(), (256 << 20, 256 << 20));
    emulator.cut_power().unwrap();
    assert_eq!(emulator.power_on().unwrap(), Some("its power was cut"));
    assert_eq!(size(), (64 << 20, 64 << 20));
}

#[test]
fn a_device_that_does_not_come_back_says_so() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},dead=1.0");
    let emulator = rig.start(options);
    emulator.cut_power().unwrap();
    assert_eq!(emulator.power_on().unwrap(), Some("it does not start up any more"));
    assert!(direct(&emulator.path()).read_exact_at(Aligned::new(BLOCK).part(BLOCK), 0).is_err());
}

#[test]
fn without_faults_nobody_knows_what_would_be_safe() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let emulator = rig.start(rig.options());
    let said = emulator.cut_power().unwrap_err().to_string();
    assert!(said.contains("hint: start it as") && said.contains("write_cache=mapping"), "{said}");
    direct(&emulator.path()).read_exact_at(Aligned::new(BLOCK).part(BLOCK), 0).unwrap();
}
