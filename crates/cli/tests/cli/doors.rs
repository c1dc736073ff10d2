//! What is written beside a target, and what is never written to.

use crate::devices::Loop;
use crate::harness::{fixture, flashscope, left_out, scratch};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

const LOAD: [&str; 6] = ["bench", "sim:sd-4mib", "--size", "4M", "--count", "20"];

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Everything that writes a file, with the file's name where `FILE` stands. `R` is a record, `B` the result of a bench, `L` a log.
const WRITERS: [&str; 19] = [
    "bench sim:sd-4mib --size 4M --count 20 --trace 5 --trace-to FILE.csv",
    "bench sim:sd-4mib --size 4M --count 20 -o FILE.json",
    "bench sim:sd-4mib --size 4M --count 20 --report FILE.html",
    "bench sim:sd-4mib --size 4M --count 20 --report FILE.csv",
    "bench sim:sd-4mib --size 4M --count 20 --report FILE.xlsx",
    "bench sim:sd-4mib --size 4M --count 20 --report FILE.txt",
    "bench fio --target sim:sd-4mib --trace 5 --trace-to FILE.csv -- -size=1m -rw=randread -bs=4k -name=a",
    "bench iozone -i 0 -s 64k -r 4k --csv FILE.csv",
    "bench iozone -i 0 -s 64k -r 4k --html FILE.html",
    "bench iozone -i 0 -s 64k -r 4k --output FILE.json",
    "bench iozone -i 0 -s 64k -r 4k -b FILE.xlsx",
    "probe floor -o FILE.json",
    "infer L --html FILE.html",
    "report R --format markdown -o FILE.md",
    "report R --format text -o FILE.txt",
    "report R --format csv -o FILE.csv",
    "report R --format html -o FILE.html",
    "report B --format xlsx -o FILE.xlsx",
    "fleet -n 1 --no-naive --html FILE.html",
];

/// Runs a writer with this file, named with or without its ending.
fn write(writer: &str, folder: &Path, file: &dyn Fn(&str) -> String, more: &[&str]) -> crate::harness::Run {
    let log = fixture("field/card-15.txt");
    let word = |word: &str| match word {
        "R" => text(&folder.join("record.json")).to_owned(),
        "B" => text(&folder.join("bench.json")).to_owned(),
        "L" => log.clone(),
        word => word.strip_prefix("FILE").map_or_else(|| word.to_owned(), file),
    };
    let mut words: Vec<String> = writer.split(' ').map(word).collect();
    // fio's own words stand last.
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(at..at, more.iter().map(|word| (*word).to_owned()));
    flashscope(&words.iter().map(String::as_str).collect::<Vec<_>>()).current_dir(folder).run()
}

/// A folder with a record and the result of a bench.
fn prepared() -> std::path::PathBuf {
    let folder = scratch();
    flashscope(&["probe", "floor", "-o", "record.json"]).current_dir(&folder).run().expect(DONE);
    flashscope(&[&LOAD[..], &["-o", "bench.json"]].concat()).current_dir(&folder).run().expect(DONE);
    folder
}

#[test]
fn a_file_of_others_is_replaced_only_when_that_is_said_and_our_own_always() {
    let folder = prepared();
    for (number, writer) in WRITERS.iter().enumerate() {
        let name = |ending: &str| format!("file-{number}{ending}");
        let ending = writer.split("FILE").nth(1).and_then(|rest| rest.split(' ').next()).expect("an ending");
        let path = folder.join(name(ending));
        fs::write(&path, "all that I know").unwrap();
        let refused = write(writer, &folder, &name, &[]);
        refused.expect(REFUSED);
        assert!(refused.stdout.is_empty(), "{writer}: refused before anything is done");
        assert!(
            refused.stderr.contains("did not write it") && refused.stderr.contains("--force"),
            "{}",
            refused.stderr
        );
        assert_eq!(fs::read(&path).unwrap(), b"all that I know", "{writer}");
        write(writer, &folder, &name, &["--force"]).expect(DONE);
        let first = fs::read(&path).unwrap();
        assert_ne!(first, b"all that I know", "{writer}");
        write(writer, &folder, &name, &[]).expect(DONE);
    }
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), WRITERS.len() + 2, "nothing else stays: {left:?}");
}

#[test]
fn no_device_is_written_to_without_consent() {
    let Some(device) = Loop::new("results on a loop device", 8) else { return };
    let before = device.content();
    let folder = prepared();
    let link = folder.join("link");
    symlink(&device.node, &link).unwrap();
    for name in [&device.node, text(&link)] {
        for writer in WRITERS.iter().filter(|writer| !writer.contains("--report")) {
            let run = write(writer, &folder, &|_| name.to_owned(), &["--force"]);
            run.expect(REFUSED);
            assert!(run.stderr.contains("block device") && run.stderr.contains("hint"), "{}", run.stderr);
        }
        let at = text(&folder).to_owned();
        let run = flashscope(&["emulate", "sd-flat,capacity=64MiB", "--at", &at, "--log", name, "--force"]).run();
        run.expect(REFUSED);
        let log = fixture("field/card-15.txt");
        flashscope(&["twin", "fit", &log, "-o", name, "--force"]).run().expect(REFUSED);
    }
    assert!(device.content() == before, "not one byte may change");
}

#[test]
fn the_target_is_never_written_over() {
    let folder = scratch();
    let (image, link, second) = (folder.join("card.img"), folder.join("link"), folder.join("second"));
    fs::write(&image, vec![7; 1 << 20]).unwrap();
    symlink(&image, &link).unwrap();
    fs::hard_link(&image, &second).unwrap();
    let load = ["bench", text(&image), "--mode", "cached", "--rw", "randread", "--count", "5", "--force"];
    for name in [&image, &link, &second] {
        for option in [&["-o", text(name)][..], &["--trace", "5", "--trace-to", text(name)]] {
            let run = flashscope(&[&load[..], option].concat()).run();
            run.expect(REFUSED);
            assert!(run.stderr.contains("works on"), "{}", run.stderr);
        }
    }
    let probe = ["probe", "floor", text(&image), "--allow-cached", "--force", "-o", text(&image)];
    flashscope(&probe).run().expect(REFUSED);
    assert_eq!(fs::read(&image).unwrap(), vec![7; 1 << 20]);
    // One that is still to be made.
    let new = folder.join("new");
    let run = flashscope(&["bench", text(&new), "--size", "1M", "--mode", "cached", "--keep", "-o", text(&new)]).run();
    run.expect(REFUSED);
    assert!(!new.exists());
    // What is read, too.
    let folder = prepared();
    let record = folder.join("record.json");
    let before = fs::read(&record).unwrap();
    let report = ["report", text(&record), "--format", "html", "--force", "-o", text(&record)];
    flashscope(&report).run().expect(REFUSED);
    flashscope(&["infer", text(&record), "--force", "--html", text(&record)]).run().expect(REFUSED);
    assert_eq!(fs::read(&record).unwrap(), before);
}

#[test]
fn the_file_below_a_loop_device_is_never_written_over() {
    let Some(device) = Loop::new("results over the file below a loop device", 8) else { return };
    let before = device.content();
    let load = ["bench", &device.node, "--rw", "randread", "--count", "5", "--size", "1M", "--force", "-o"];
    let run = flashscope(&[&load[..], &[text(&device.backing)]].concat()).run();
    run.expect(REFUSED);
    assert!(run.stderr.contains("stands on it"), "{}", run.stderr);
    assert!(device.content() == before, "not one byte may change");
}

#[test]
fn a_result_keeps_the_mode_and_the_names_of_the_file_that_it_replaces() {
    let folder = scratch();
    let (path, second) = (folder.join("r.json"), folder.join("second.json"));
    let keep = || flashscope(&["probe", "floor", "-o", text(&path)]).run().expect(DONE);
    keep();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    keep();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    fs::hard_link(&path, &second).unwrap();
    flashscope(&["probe", "floor", "-c", "50", "-o", text(&path)]).run().expect(DONE);
    assert_eq!(fs::read(&path).unwrap(), fs::read(&second).unwrap());
}

#[test]
fn links_are_followed_where_only_we_can_make_them() {
    let folder = scratch();
    let (own, theirs, real) = (folder.join("own"), folder.join("theirs"), folder.join("real.json"));
    for (of, mode) in [(&own, 0o755), (&theirs, 0o777)] {
        fs::create_dir(of).unwrap();
        fs::set_permissions(of, Permissions::from_mode(mode)).unwrap();
        symlink(&real, of.join("link.json")).unwrap();
    }
    fs::write(&real, "").unwrap();
    let to = |of: &Path| flashscope(&["probe", "floor", "--force", "-o", text(&of.join("link.json"))]).run();
    let refused = to(&theirs);
    refused.expect(REFUSED);
    assert!(refused.stderr.contains("a link") && refused.stderr.contains(text(&real)), "{}", refused.stderr);
    assert_eq!(fs::read(&real).unwrap(), b"");
    to(&own).expect(DONE);
    assert!(own.join("link.json").is_symlink() && fs::read_to_string(&real).unwrap().contains("flashscope.record"));
}

#[test]
fn nothing_is_made_beside_the_nodes_of_devices() {
    let run = flashscope(&["inspect", "-o", "/dev/loop1"]).run();
    run.expect(REFUSED);
    assert!(run.stderr.contains("no place for files") && run.stderr.contains("hint"), "{}", run.stderr);
    assert!(!Path::new("/dev/loop1.html").exists() && !Path::new("/dev/loop1.json").exists());
}

#[test]
fn two_results_do_not_share_a_file() {
    let folder = scratch();
    for other in ["./a.json", "link.json"] {
        let _ = symlink("a.json", folder.join("link.json"));
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let run = flashscope(&[&LOAD[..], &["-o", "a.json", "--report", other]].concat()).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains("writes both") && run.stdout.is_empty(), "{}", run.stderr);
        assert!(!folder.join("a.json").exists());
    }
}

#[test]
fn a_place_that_cannot_be_written_is_said_before_the_run() {
    let folder = scratch();
    let run = flashscope(&[&LOAD[..], &["-o", "no/where.json"]].concat()).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stdout.is_empty() && run.stderr.contains("no such directory"), "{}", run.stderr);
    flashscope(&["probe", "floor", "-o", text(&folder)]).run().expect(CANNOT);
    assert!(folder.is_dir());
}

/// While bench still fills the file that it has made, somebody who may write to the directory leads its name elsewhere.
#[test]
fn a_name_that_is_led_elsewhere_while_bench_runs_harms_nobody() {
    for folder_too in [false, true] {
        let folder = scratch();
        let (victims, theirs) = (folder.join("victims"), folder.join("theirs"));
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(&victims).unwrap();
        fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
        let victim = victims.join("0000");
        // As large as bench expects the file to be, and nothing but a hole until somebody writes to it.
        fs::File::create(&victim).unwrap().set_len(if folder_too { 32 << 20 } else { 64 << 20 }).unwrap();
        let file = theirs.join("file");
        let to = if folder_too { &theirs } else { &file };
        let mut load = vec!["bench", text(to), "--rw", "write", "--bs", "1M", "--size", "64M", "--mode", "cached"];
        load.extend(if folder_too { &["--files", "2"][..] } else { &[] });
        let mut child =
            flashscope(&load).command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let began = Instant::now();
        let made = loop {
            let made = fs::read_dir(&theirs).unwrap().flatten().next().map(|made| made.path());
            // A folder is left alone until its first file is on its way.
            if let Some(made) = made.filter(|made| !folder_too || made.join("0000").exists()) {
                break made;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "nothing was made");
            std::thread::sleep(Duration::from_micros(200));
        };
        // What it is moved to has the victim's name, so that whoever goes by names finds something.
        fs::rename(&made, folder.join("moved")).unwrap();
        symlink(if folder_too { &victims } else { &victim }, &made).unwrap();
        let _ = child.wait();
        assert_eq!(fs::metadata(&victim).unwrap().blocks(), 0, "another file was written to (folder: {folder_too})");
        assert_eq!(fs::read_dir(&victims).unwrap().count(), 1, "nothing came there (folder: {folder_too})");
    }
}

#[test]
fn what_an_emulated_device_holds_is_for_its_owner_alone() {
    let folder = scratch();
    let (at, backing) = (folder.join("at"), folder.join("card.img"));
    fs::create_dir(&at).unwrap();
    let arguments = ["emulate", "sd-flat,capacity=16MiB", "--at", text(&at), "--backing", text(&backing)];
    let mut child = flashscope(&arguments).command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line);
    if read.unwrap_or(0) == 0 {
        left_out("the mode of backing files (emulate does not work here)");
        let _ = child.wait();
        return;
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let _ = child.wait();
    for file in [backing.clone(), folder.join("card.img.state")] {
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn a_record_of_another_target_is_not_replaced() {
    let folder = scratch();
    let call = |arguments: &[&str]| flashscope(arguments).current_dir(&folder).run();
    let target = |name: &str| {
        let record: serde_json::Value = serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap();
        record["target"].as_str().unwrap().to_owned()
    };
    // Both are called TWIN: the second finds a name of its own, and the same again replaces its own.
    for model in ["sim:card-3", "sim:card-9", "sim:card-9", "sim:card-3"] {
        call(&["inspect", model, "--read-only"]).expect(DONE);
    }
    assert_eq!(target("flashscope-TWIN.json"), "sim:card-3");
    assert_eq!(target("flashscope-TWIN-card-9.json"), "sim:card-9");
    assert!(folder.join("flashscope-TWIN-card-9.html").exists() && !folder.join("flashscope-TWIN-2.json").exists());

    let refused = |arguments: &[&str]| {
        let run = call(arguments);
        run.expect(REFUSED);
        assert!(run.stderr.contains("--force"), "{}", run.stderr);
    };
    refused(&["inspect", "sim:card-9", "--read-only", "-o", "flashscope-TWIN"]);
    refused(&["probe", "floor", "sim:card-9", "-o", "flashscope-TWIN.json"]);
    refused(&["bench", "sim:card-9", "--rw", "randread", "--count", "5", "-o", "flashscope-TWIN.json"]);
    refused(&["report", "flashscope-TWIN-card-9.json", "-o", "flashscope-TWIN.json"]);
    refused(&["infer", "flashscope-TWIN-card-9.json", "-o", "flashscope-TWIN.json"]);
    assert_eq!(target("flashscope-TWIN.json"), "sim:card-3");
    call(&["probe", "floor", "sim:card-9", "-o", "flashscope-TWIN.json", "--force"]).expect(DONE);
    assert_eq!(target("flashscope-TWIN.json"), "sim:card-9");
}
