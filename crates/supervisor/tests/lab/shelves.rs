//! Machines whose sysfs was written down: which devices are found, and which parts they share.

use crate::harness::Place;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Makes the files and links that a manifest describes: `@ directory`, `path = content`, `path -> link`. The manifest beside this
/// file was written by hand by the layout that the kernel documents (`Documentation/admin-guide/sysfs-rules.rst`,
/// `Documentation/ABI/testing/sysfs-block`, `sysfs-bus-usb`, `sysfs-class-nvme`); it is no copy of a machine.
fn materialise(root: &Path) {
    let mut base = String::new();
    for line in include_str!("shelves.manifest").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(directory) = line.strip_prefix("@ ") {
            base = directory.to_owned();
            continue;
        }
        let at = |path: &str| root.join(if path.starts_with("sys/") { "" } else { &base }).join(path);
        let make = |path: &Path| std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some((path, link)) = line.split_once(" -> ") {
            make(&at(path));
            symlink(link, at(path)).unwrap();
        } else {
            let (path, content) = line.split_once(" = ").expect("a file or a link");
            make(&at(path));
            std::fs::write(at(path), content.replace("\\n", "\n").replace("\\e", "\u{1b}")).unwrap();
        }
    }
}

/// What the program says of these devices of that machine.
fn looked_at(devices: &[&str]) -> (Value, String) {
    let place = Place::new();
    materialise(&place.path("machine"));
    let tables: String = devices.iter().map(|device| format!("[[device]]\n{device}\n")).collect();
    place.plan(&format!("name = \"p\"\n{tables}[[work]]\nname = \"look\"\nrun = \"inspect\"\n"));
    let words = ["run", "plan.toml", "--dry-run", "--sysfs", "machine"];
    (place.record(&words, 0), place.run(&words).stdout)
}

/// The shared parts, as `name: devices`.
fn shared(record: &Value) -> Vec<String> {
    let words = |part: &Value| {
        let devices: Vec<&str> = part["devices"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        format!("{}: {}", part["name"].as_str().unwrap(), devices.join(" "))
    };
    record["shared_parts"].as_array().unwrap().iter().map(words).collect()
}

#[test]
fn readers_share_their_hub_slots_their_reader_and_cards_their_controller() {
    let (record, _) = looked_at(&[
        "name = \"left\"\nslot = \"1-2.1\"",
        "name = \"upper\"\nslot = \"1-2.3\"\nlun = 0",
        "name = \"lower\"\nslot = \"1-2.3\"\nlun = 1",
        "name = \"sd-a\"\nidentity = \"0x11111111:7948206080\"",
        "name = \"sd-b\"\nidentity = \"0x22222222:7948206080\"",
        "name = \"emmc\"\nidentity = \"0x33333333:31268536320\"",
        "name = \"ssd\"\nidentity = \"S3R1AL:500107862016\"",
    ]);
    assert_eq!(
        shared(&record),
        ["USB port 1-2: left upper lower", "host7: upper lower", "PCI 0000:02:00.0: sd-a sd-b"]
    );
    let devices = record["devices"].as_array().unwrap();
    let parts = |name: &str| devices.iter().find(|device| device["name"] == name).unwrap()["parts"].clone();
    assert_eq!(parts("emmc").as_array().unwrap().len(), 2, "its host and its controller: {}", parts("emmc"));
    let ssd = parts("ssd").to_string();
    assert!(ssd.contains("0000:03:00.0/nvme/nvme0") && ssd.contains("0000:00:1d.0"), "{ssd}");
}

#[test]
fn a_device_that_is_not_there_or_could_be_two_is_said() {
    let place = Place::new();
    materialise(&place.path("machine"));
    for (device, why) in [
        ("identity = \"nobody:1\"", "is not attached"),
        ("slot = \"9-9\"", "is not attached"),
        ("slot = \"1-2.3\"", "could be any of"),
    ] {
        place.plan(&format!("name = \"p\"\n[[device]]\n{device}\n[[work]]\nname = \"look\"\nrun = \"inspect\"\n"));
        let run = place.run(&["run", "plan.toml", "--dry-run", "--sysfs", "machine"]);
        run.expect(2);
        assert!(run.stderr.contains(why) && run.stderr.contains("hint: "), "{}", run.stderr);
    }
}

#[test]
fn names_of_devices_are_shown_and_not_acted_on() {
    let (record, text) = looked_at(&["slot = \"1-2.1\""]);
    let identity = record["devices"][0]["identity"].as_str().unwrap();
    assert!(identity.contains("../../") && identity.contains('\u{1b}'), "the card is called so: {identity:?}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let id = record["lab_runs"][0]["id"].as_str().unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn what_writes_to_a_device_is_refused_without_consent() {
    let place = Place::new();
    materialise(&place.path("machine"));
    place.plan(
        "name = \"p\"\n[[device]]\nname = \"sd\"\nidentity = \"0x11111111:7948206080\"\n\
         [[work]]\nname = \"fake\"\nrun = \"capacity\"\n",
    );
    let words = ["run", "plan.toml", "--dry-run", "--sysfs", "machine"];
    let asks = place.run(&words);
    assert!(asks.stdout.contains("needs --destroy-data=0x11111111:7948206080"), "{}", asks.stdout);
    let given = place.run(&[&words[..], &["--destroy-data", "0x11111111:7948206080"]].concat());
    assert!(!given.stdout.contains("needs --destroy-data"), "{}", given.stdout);
    let slip = place.run(&[&words[..], &["--destroy-data", "0x1:1"]].concat());
    slip.expect(2);
    assert!(slip.stderr.contains("no device of the plan is 0x1:1"), "{}", slip.stderr);
}
