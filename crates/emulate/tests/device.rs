//! The emulated device as other programs see it, through the kernel. Needs root, `/dev/fuse` and loop devices; says loudly
//! what is left out where they are missing.
#![allow(clippy::print_stdout)]

#[path = "device/power.rs"]
mod power;
mod support;

use flashscope_emulate::{EmulateError, Emulator, LogTo, Speed, Stop, clean, seen};
use flashscope_host::Outputs;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Aligned, CARD, Child, Rig, can_fuse, can_loop, child, direct, pattern, refused};

const MIB: u64 = 1 << 20;

/// Writes and reads odd places and sizes, against a copy in memory.
fn read_your_writes(path: &Path, unit: u64) {
    let disk = direct(path);
    let mut model = vec![0u8; 8 * MIB as usize];
    let mut buffer = Aligned::new(MIB as usize);
    // What is there before the first write is the model's business: any bytes, but the same ones each time.
    for at in (0..8).map(|index| index * MIB) {
        disk.read_exact_at(buffer.part(MIB as usize), at).unwrap();
        model[at as usize..(at + MIB) as usize].copy_from_slice(buffer.part(MIB as usize));
    }
    let mut seed = 7u64;
    for step in 0..120u64 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
        let length = ((seed >> 40) % (MIB / 4 / unit) + 1) * unit;
        let offset = (seed >> 20) % ((8 * MIB - length) / unit) * unit;
        let range = offset as usize..(offset + length) as usize;
        let part = buffer.part(length as usize);
        if step % 3 == 0 {
            disk.read_exact_at(part, offset).unwrap();
            assert!(part == &model[range], "read of {length} at {offset}");
        } else {
            pattern(step, part);
            model[range].copy_from_slice(part);
            disk.write_all_at(part, offset).unwrap();
        }
    }
    disk.sync_all().unwrap();
    for at in (0..8).map(|index| index * MIB) {
        disk.read_exact_at(buffer.part(MIB as usize), at).unwrap();
        assert!(buffer.part(MIB as usize) == &model[at as usize..(at + MIB) as usize], "at {at}");
    }
}

#[test]
fn the_file_holds_what_was_written() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut emulator = rig.start(rig.options());
    read_your_writes(&emulator.path(), 512);
    // A file can be written at any byte; its device cannot, and reads the rest of a block first.
    let file = direct(&emulator.path());
    file.write_all_at(&[1; 4096], 0).unwrap();
    file.write_all_at(&[2; 700], 100).unwrap();
    let mut found = [0; 4096];
    file.read_exact_at(&mut found, 0).unwrap();
    assert!(found[..100] == [1; 100] && found[100..800] == [2; 700] && found[800..] == [1; 3296]);
    assert_eq!(file.metadata().unwrap().len(), 256 * MIB);
    assert!(file.write_all_at(&[1; 512], 256 * MIB).is_err());
    assert_eq!(file.read_at(&mut found, 256 * MIB).unwrap(), 0);
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    rig.is_clean();
}

#[test]
fn the_loop_device_holds_what_was_written() {
    let Some(rig) = Rig::new(can_loop()) else { return };
    let mut options = rig.options();
    options.attach_loop = true;
    let mut emulator = rig.start(options);
    let device = emulator.path();
    assert!(device.starts_with("/dev") && device != rig.at.join("disk"));
    let attribute = |name: &str| {
        let path = Path::new("/sys/block").join(device.file_name().unwrap()).join(name);
        fs::read_to_string(path).unwrap().trim().to_owned()
    };
    assert_eq!(attribute("queue/max_sectors_kb"), "512");
    assert_eq!(attribute("queue/logical_block_size"), "512");
    assert_eq!((attribute("loop/dio").as_str(), attribute("size").as_str()), ("1", "524288"));
    read_your_writes(&device, 512);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    assert!(emulator.has_ended());
    rig.is_clean();
}

#[test]
fn whoever_uses_it_keeps_it_alive() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut emulator = rig.start(rig.options());
    let file = direct(&emulator.path());
    assert!(matches!(emulator.stop(false).unwrap(), Stop::Busy(what) if what.contains("in use")));
    file.write_all_at(&[7; 512], 0).unwrap();
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
}

/// Every request is in the log, in order, with what was asked and times that fit what its caller saw.
#[test]
fn the_log_has_a_line_for_every_answer() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let log = rig.root.join("log.csv");
    let mut options = rig.options();
    let door = Outputs::new(false, |_| false).plan(&log).unwrap();
    (options.log, options.speed) = (Some(LogTo::Output(Arc::new(door))), Speed::Times(1.0));
    let mut emulator = rig.start(options);
    let file = direct(&emulator.path());
    let mut buffer = Aligned::new(8192);
    let mut seen = Vec::new();
    for index in 0..20u64 {
        let began = Instant::now();
        match index % 2 {
            0 => file.read_exact_at(buffer.part(4096), index * 4096).unwrap(),
            _ => file.write_all_at(buffer.part(8192), index * 8192).unwrap(),
        }
        seen.push(began.elapsed().as_nanos() as u64);
    }
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 21, "{text}");
    for (index, (line, seen)) in lines.iter().zip(&seen).enumerate() {
        let (kind, length) = if index % 2 == 0 { ("read", "4096") } else { ("write", "8192") };
        let offset = (index * length.parse::<usize>().unwrap()).to_string();
        assert_eq!(line[3..], [kind, &offset, length, "0"], "{text}");
        let [arrived, done, answered] = [0, 1, 2].map(|at| line[at].parse::<u64>().unwrap());
        assert!(arrived < done && arrived < answered && answered - arrived < *seen, "{line:?}, {seen} ns");
    }
    assert_eq!(lines[20][3], "flush");
}

#[test]
fn statistics_count_what_was_asked() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let emulator = rig.start(rig.options());
    let file = direct(&emulator.path());
    let bytes = vec![3; 64 << 10];
    (0..8).for_each(|index| file.write_all_at(&bytes, index * (64 << 10)).unwrap());
    file.read_exact_at(&mut vec![0; 4096], 0).unwrap();
    file.sync_all().unwrap();
    support::punch_hole(&file, 0, MIB / 4);
    let synchronous = support::synchronous(&emulator.path());
    synchronous.write_all_at(&bytes, MIB).unwrap();
    let statistics = emulator.statistics();
    let requests = statistics.requests;
    assert_eq!((requests.reads, requests.writes, requests.durable_writes), (1, 9, 1));
    assert_eq!((requests.flushes, requests.discards, requests.failed), (1, 1, 0));
    assert_eq!((statistics.host_read.get(), statistics.host_written.get()), (4096, 9 * (64 << 10)));
    assert!(statistics.nand_written >= statistics.host_written, "{statistics:?}");
    assert!(statistics.write_amplification.unwrap() >= 1.0);
    assert_eq!(statistics.counters.collections, None, "a card of units collects nothing");
    assert!(statistics.lateness.is_some() && statistics.floor.get() > 0);
    let told = fs::read_to_string(rig.at.join("stats.json")).unwrap();
    assert!(told.contains(r#""write_requests":9,"durable_write_requests":1,"#), "{told}");
    // A unit of 4 MiB that is written from end to end takes the place of its old blocks.
    (0..128u64).for_each(|index| file.write_all_at(&bytes, 8 * MIB + index * (64 << 10)).unwrap());
    assert!(emulator.statistics().counters.merges > statistics.counters.merges, "{statistics:?}");
    // What was discarded through a file reads as zero, whatever the flash erases to.
    let mut found = vec![1; 4096];
    file.read_exact_at(&mut found, 0).unwrap();
    assert!(found.iter().all(|byte| *byte == 0));
    drop((file, synchronous));
}

#[test]
fn takes_the_time_that_the_model_takes() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    // 20 ms for each read, so that a busy machine does not matter; ten of them.
    options.model = format!("{CARD},link.command=20ms");
    options.speed = Speed::Times(1.0);
    let emulator = rig.start(options.clone());
    let ten = |path: PathBuf| {
        let file = direct(&path);
        let begun = Instant::now();
        (0..10).for_each(|index| file.read_exact_at(&mut [0; 4096], index * 4096).unwrap());
        begun.elapsed()
    };
    let took = ten(emulator.path());
    assert!(took >= Duration::from_millis(200) && took < Duration::from_millis(400), "{took:?}");
    drop(emulator);
    options.speed = Speed::Times(100.0);
    let fast = ten(rig.start(options.clone()).path());
    assert!(fast < took / 10, "{fast:?} {took:?}");
    options.speed = Speed::Unpaced;
    let unpaced = ten(rig.start(options).path());
    assert!(unpaced < took / 10, "{unpaced:?} {took:?}");
}

#[test]
fn a_device_comes_back_with_content_and_state() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.backing = Some(rig.root.join("card.img"));
    // No pauses, in which a device may tidy up.
    options.speed = Speed::Unpaced;
    let mut bytes = vec![0; 48 << 10];
    let mut wear = 0;
    for round in 0..3u64 {
        let mut emulator = rig.start(options.clone());
        let file = direct(&emulator.path());
        for before in 0..round {
            let mut found = vec![0; bytes.len()];
            file.read_exact_at(&mut found, before * MIB).unwrap();
            pattern(before, &mut bytes);
            assert!(found == bytes, "round {round}: what round {before} wrote");
        }
        pattern(round, &mut bytes);
        file.write_all_at(&bytes, round * MIB).unwrap();
        drop(file);
        wear += emulator.statistics().nand_written.get();
        assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    }
    // The same in one go: the device was never anything else in between.
    options.backing = None;
    let emulator = rig.start(options);
    let file = direct(&emulator.path());
    for round in 0..3u64 {
        (0..round).for_each(|before| file.read_exact_at(&mut vec![0; bytes.len()], before * MIB).unwrap());
        pattern(round, &mut bytes);
        file.write_all_at(&bytes, round * MIB).unwrap();
    }
    assert_eq!(emulator.statistics().nand_written.get(), wear);
}

#[test]
fn a_killed_emulator_leaves_what_can_be_cleaned() {
    let Some(rig) = Rig::new(can_loop()) else { return };
    let mut options = rig.options();
    options.attach_loop = true;
    options.backing = Some(rig.root.join("card.img"));
    let mut child = Child::start(&options);
    let mut bytes = Aligned::new(64 << 10);
    let part = bytes.part(64 << 10);
    pattern(1, part);
    direct(&child.path).write_all_at(part, 0).unwrap();
    // Killed in the middle of I/O.
    let path = child.path.clone();
    let (sender, begun) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        let disk = direct(&path);
        let mut bytes = Aligned::new(64 << 10);
        for index in 16.. {
            if disk.write_all_at(bytes.part(64 << 10), index % 4000 * (64 << 10)).is_err() {
                return;
            }
            let _ = sender.send(index);
        }
    });
    for _ in 0..20 {
        begun.recv_timeout(Duration::from_secs(20)).unwrap();
    }
    child.kill();
    writer.join().unwrap();
    // Not its attributes, which the kernel may still know.
    assert!(fs::File::open(rig.at.join("disk")).is_err());
    let removed = clean(&options.registry).unwrap();
    assert!(removed.len() == 2 && removed[0].contains("/dev/loop") && removed[1].contains("unmounted"), "{removed:?}");
    rig.is_clean();
    assert_eq!(clean(&options.registry).unwrap(), [""; 0]);

    // Once more, cleaned up by the next start, which finds what was written.
    Child::start(&options).kill();
    let emulator = rig.start(options);
    assert_eq!(
        emulator.remarks().iter().filter(|remark| remark.contains("killed")).count(),
        2,
        "{:?}",
        emulator.remarks()
    );
    let mut found = Aligned::new(64 << 10);
    direct(&emulator.path()).read_exact_at(found.part(64 << 10), 0).unwrap();
    assert!(found.part(64 << 10) == bytes.part(64 << 10));
    drop(emulator);
    rig.is_clean();
}

#[test]
fn bad_places_are_refused() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let check = |at: &str, expect: &str| {
        let mut options = rig.options();
        options.at = Some(rig.root.join(at));
        let said = refused(&options);
        assert!(said.contains(expect) && said.contains("\nhint: "), "{said}");
    };
    check("missing", "No such file");
    fs::write(rig.root.join("file"), "").unwrap();
    check("file", "is not a directory");
    check(".", "is not empty");
    check("/proc", "has something mounted on it");
    let _first = rig.start(rig.options());
    let said = refused(&rig.options());
    assert!(said.contains(&format!("(process {})", std::process::id())), "{said}");
}

#[test]
fn bad_backing_files_are_refused() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    let file = rig.root.join("card.img");
    let state = rig.root.join("card.img.state");
    options.backing = Some(file.clone());
    fs::write(&file, "something").unwrap();
    assert!(refused(&options).contains("is not empty, and there is no"));
    assert!(!state.exists());
    fs::remove_file(&file).unwrap();

    let mut emulator = rig.start(options.clone());
    direct(&emulator.path()).write_all_at(&[9; 4096], 0).unwrap();
    let mut second = options.clone();
    let elsewhere = rig.root.join("second");
    fs::create_dir(&elsewhere).unwrap();
    second.at = Some(elsewhere);
    assert!(matches!(Emulator::start(&second), Err(EmulateError::Running { .. })));
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    drop(emulator);

    let mut other = options.clone();
    other.seed = 99;
    assert!(refused(&other).contains("its seed is 1, not 99\nhint: add --seed 1"));
    other = options.clone();
    other.model = "sd-4mib,capacity=512MiB,noise=none".to_owned();
    assert!(refused(&other).contains("of another model"));

    let whole = fs::read(&state).unwrap();
    let damage = |at: usize, expect: &str| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(&state, bytes).unwrap();
        let said = refused(&options);
        assert!(said.contains(expect) && said.contains("hint: restore it from a copy"), "{said}");
    };
    damage(3, "does not begin like one");
    damage(100, "the checksum of its head is wrong");
    fs::write(&state, &whole[..30]).unwrap();
    assert!(refused(&options).contains("its head is cut off"));
    fs::write(&state, &whole).unwrap();
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(MIB).unwrap();
    assert!(refused(&options).contains("is too small"));
    rig.is_clean();
}

#[test]
fn a_last_frame_that_was_cut_off_is_dropped() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.backing = Some(rig.root.join("card.img"));
    let mut emulator = rig.start(options.clone());
    let file = direct(&emulator.path());
    (0..3u8).for_each(|index| file.write_all_at(&[index + 1; 4096], u64::from(index) * MIB).unwrap());
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    drop(emulator);
    let state = rig.root.join("card.img.state");
    let length = fs::metadata(&state).unwrap().len();
    fs::OpenOptions::new().write(true).open(&state).unwrap().set_len(length - 1).unwrap();
    let emulator = rig.start(options);
    assert!(emulator.remarks()[0].contains("its last entry was cut off"), "{:?}", emulator.remarks());
    let mut found = [0; 4096];
    direct(&emulator.path()).read_exact_at(&mut found, MIB).unwrap();
    assert_eq!(found, [2; 4096]);
}

#[test]
fn a_full_disk_under_the_backing_file_is_an_error_and_no_end() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let Some(small) = rig.small_disk(4 * MIB) else { return };
    let mut options = rig.options();
    options.backing = Some(small.0.join("card.img"));
    let mut emulator = rig.start(options);
    let file = direct(&emulator.path());
    let bytes = vec![5; MIB as usize];
    let written = (0..16).take_while(|index| file.write_all_at(&bytes, index * MIB).is_ok()).count();
    assert!((1..=4).contains(&written), "{written}");
    let error = file.write_all_at(&bytes, 20 * MIB).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    let mut found = vec![0; MIB as usize];
    file.read_exact_at(&mut found, 0).unwrap();
    assert!(found == bytes);
    assert!(emulator.statistics().requests.failed >= 2);
    // Where room comes back, so does the device.
    support::punch_hole(&file, 0, MIB);
    file.write_all_at(&bytes[..512 << 10], 0).unwrap();
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
}

#[test]
fn what_the_model_answers_reaches_the_kernel() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},failing=64MiB-65MiB");
    let emulator = rig.start(options.clone());
    let file = direct(&emulator.path());
    let errno = |error: std::io::Error| error.raw_os_error();
    let read = |at| file.read_exact_at(&mut [0; 4096], at).map_err(errno);
    assert_eq!((read(63 * MIB), read(64 * MIB), read(65 * MIB)), (Ok(()), Err(Some(5)), Ok(())));
    assert_eq!(file.write_all_at(&[1; 512], 64 * MIB).map_err(errno), Err(Some(5)));
    drop((file, emulator));

    options.model = format!("{CARD},fake=wrap-around,real_capacity=64MiB");
    let emulator = rig.start(options.clone());
    let file = direct(&emulator.path());
    file.write_all_at(&[1; 4096], MIB).unwrap();
    file.write_all_at(&[2; 4096], 65 * MIB).unwrap();
    let mut found = [0; 4096];
    file.read_exact_at(&mut found, MIB).unwrap();
    assert_eq!(found, [2; 4096], "what was written 64 MiB further on");
    drop((file, emulator));

    options.model = format!("{CARD},vanish_after=3");
    let emulator = rig.start(options);
    let file = direct(&emulator.path());
    let results: Vec<_> = (0..5).map(|at| file.read_exact_at(&mut [0; 512], at * 512).map_err(errno)).collect();
    assert_eq!(results, [Ok(()), Ok(()), Ok(()), Err(Some(19)), Err(Some(19))]);
    assert_eq!(emulator.power_on().unwrap(), Some("it vanished from the bus"));
    file.read_exact_at(&mut [0; 512], 0).unwrap();
}

#[test]
fn a_request_that_hangs_is_given_up_and_the_device_goes_on() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},hanging=64MiB-65MiB");
    // The 30 s after which it is given up are the device's.
    options.speed = Speed::Times(100.0);
    let mut emulator = rig.start(options);
    let file = direct(&emulator.path());
    let begun = Instant::now();
    let hung = file.read_exact_at(&mut [0; 4096], 64 * MIB).map_err(|error| error.raw_os_error());
    let waited = begun.elapsed();
    assert_eq!(hung, Err(Some(5)));
    assert!((Duration::from_millis(280)..Duration::from_secs(20)).contains(&waited), "{waited:?}");
    file.read_exact_at(&mut [0; 4096], 0).unwrap();
    drop(file);
    assert_eq!(emulator.stop(false).unwrap(), Stop::Done);
    rig.is_clean();
}

#[test]
fn whoever_measures_it_can_tell_how_late_it_was() {
    let Some(rig) = Rig::new(can_loop()) else { return };
    let mut options = rig.options();
    options.attach_loop = true;
    options.speed = Speed::Times(1.0);
    let emulator = rig.start(options);
    let device = direct(&emulator.path());
    (0..20).for_each(|at| device.read_exact_at(Aligned::new(4096).part(4096), at * MIB).unwrap());
    for path in [emulator.path(), rig.at.join("disk")] {
        let seen = seen(&path).expect("an emulated device");
        let value =
            |name: &str| seen.conditions.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        assert_eq!(value("emulated"), Some(CARD));
        for name in ["emulation_lateness_ns_p50", "emulation_lateness_ns_p99", "emulation_lateness_ns_max"] {
            assert!(value(name).is_some_and(|value| value.parse::<u64>().is_ok()), "{name} of {seen:?}");
        }
    }
    assert_eq!(seen(&rig.at.join("stats.json")), None, "only the device is one");
}

#[test]
fn after_a_power_cut_the_device_holds_what_was_safe() {
    let Some(rig) = Rig::new(can_fuse()) else { return };
    let mut options = rig.options();
    options.model = format!("{CARD},write_cache=64MiB,drain_after=never,power_cut_after=4");
    options.backing = Some(rig.root.join("card.img"));
    let emulator = rig.start(options.clone());
    let file = direct(&emulator.path());
    file.write_all_at(&[1; 4096], 0).unwrap();
    file.sync_all().unwrap();
    file.write_all_at(&[2; 4096], 0).unwrap();
    file.write_all_at(&[3; 4096], MIB).unwrap();
    // The power goes while this one is under way.
    assert!(file.read_exact_at(&mut [0; 4096], 0).is_err());
    drop((file, emulator));
    let emulator = rig.start(options);
    assert!(emulator.remarks().iter().any(|remark| remark.contains("its power was cut")), "{:?}", emulator.remarks());
    let mut found = [0; 4096];
    direct(&emulator.path()).read_exact_at(&mut found, 0).unwrap();
    assert_eq!(found, [1; 4096]);
}

/// Not a test: what [`Child`] runs.
#[test]
#[ignore = "run by other tests, in a process that they can kill"]
fn emulates_until_it_is_killed() {
    child();
}
