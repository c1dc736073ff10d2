//! `twin fit` as a user meets it.

use crate::harness::{fixture, flashscope, scratch};

const CANNOT: i32 = 2;

#[test]
fn a_log_becomes_a_model_that_can_be_inspected() {
    let folder = scratch();
    let log = fixture("field/flashbench-readme.txt");
    let run = flashscope(&["twin", "fit", &log, "-o", "card.toml", "--cells"]).current_dir(&folder).run();
    run.expect(0);
    for part in ["mapping.unit", "4MiB", "Goodness of fit", "(d)", "Could not be known", "Cell by cell", "2 MiB on"] {
        assert!(run.stdout.contains(part), "'{part}' is missing from:\n{}", run.stdout);
    }
    let model = std::fs::read_to_string(folder.join("card.toml")).expect("the model");
    assert!(model.contains("# found: by inference") && model.contains("# default: "), "{model}");

    let seen = flashscope(&["inspect", "sim:./card.toml", "--json", "--read-only"]).current_dir(&folder).run();
    seen.expect(0);
    let record: serde_json::Value = serde_json::from_str(&seen.stdout).expect("a record");
    assert_eq!(record["geometry"]["allocation_unit"]["bytes"], 4 << 20, "{}", record["geometry"]["allocation_unit"]);
    assert_eq!(record["geometry"]["page"]["bytes"], 16 << 10);
}

#[test]
fn a_fit_is_told_in_a_screenful() {
    for log in ["field/flashbench-readme.txt", "field/card-1-2.txt"] {
        let run = flashscope(&["twin", "fit", &fixture(log), "-o", "card.toml", "--force"]).run();
        run.expect(0);
        assert!(run.stdout.lines().count() <= 45, "{}", run.stdout);
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
        for part in ["figures are within 15 %", "Found\n", "allocation unit", "Worst", "--cells prints every"] {
            assert!(run.stdout.contains(part), "'{part}' is missing from:\n{}", run.stdout);
        }
    }
}

#[test]
fn json_holds_the_model_and_every_cell() {
    let folder = scratch();
    let log = fixture("field/pqi-32gb.txt");
    let run = flashscope(&["twin", "fit", &log, "-o", "card.toml", "--json"]).current_dir(&folder).run();
    run.expect(0);
    let fit: serde_json::Value = serde_json::from_str(&run.stdout).expect("stdout is one JSON document");
    assert_eq!((&fit["schema"], &fit["kind"]), (&"flashscope.record/2".into(), &"twin".into()));
    let model = std::fs::read_to_string(folder.join("card.toml")).expect("the model");
    assert_eq!(fit["model_toml"], model);
    let cells = fit["goodness"]["cells"].as_array().expect("cells");
    assert!(cells.len() >= 60, "{} cells", cells.len());
    assert!(cells.iter().all(|cell| cell["measured"].is_number() && cell["simulated"].is_number()));
    // Nothing was written in that log: no parameter of writing may pass for measured.
    let written = fit["parameters"].as_array().expect("parameters").iter().filter(|parameter| {
        let path = parameter["path"].as_str().unwrap_or_default();
        ["mapping.program", "mapping.merge", "mapping.logs"].iter().any(|prefix| path.starts_with(prefix))
    });
    assert!(written.clone().count() >= 5);
    assert!(written.clone().all(|parameter| parameter["origin"] == "default"), "{:#?}", written.collect::<Vec<_>>());
}

#[test]
fn a_twin_of_a_drive_says_what_of_it_is_missing() {
    let folder = scratch();
    let seen = flashscope(&["inspect", "sim:ssd-consumer", "--seed", "7", "--json"]).current_dir(&folder).run();
    seen.expect(0);
    std::fs::write(folder.join("drive.json"), &seen.stdout).expect("a file");
    let run = flashscope(&["twin", "fit", "drive.json", "-o", "card.toml", "--cells"]).current_dir(&folder).run();
    run.expect(0);
    let lost = run.stdout.split("could not be carried over").nth(1).unwrap_or_else(|| panic!("{}", run.stdout));
    let lost = lost.split("\n\n").next().unwrap_or_default();
    for part in ["page-mapped", "stripe", "512 KiB", "parallel units"] {
        assert!(lost.contains(part), "'{part}' is missing from:\n{lost}");
    }
    assert!(run.stdout.lines().nth(1).is_some_and(|line| line.starts_with("Caution: ")), "{}", run.stdout);
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let log = fixture("field/usb-reader-2mib.txt");
    let once = flashscope(&["twin", "fit", &log, "-o", "card.toml", "--json"]).run();
    let twice = flashscope(&["twin", "fit", &log, "-o", "card.toml", "--json"]).run();
    once.expect(0);
    assert_eq!(once.stdout, twice.stdout);
}

#[test]
fn what_is_no_measurement_of_one_device_is_refused_with_advice() {
    let folder = scratch();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file");
        name.to_owned()
    };
    let prose = write("prose.txt", "Dear diary, today I bought a card.\n");
    let short = write("short.txt", "# flashbench -O -e 4M -b 64k\n4MiB    8.79M/s\n2MiB    8.7M/s\n");
    let (one, other) = (fixture("field/card-15.txt"), fixture("field/card-9.txt"));
    let both = std::fs::read_to_string(&one).expect("a log") + &std::fs::read_to_string(&other).expect("a log");
    let both = write("both.txt", &both);
    for (files, part) in [
        (vec![prose.as_str()], "nothing to fit"),
        (vec![short.as_str()], "at least"),
        (vec![one.as_str(), other.as_str()], "more than one device"),
        (vec![both.as_str()], "more than one device"),
        (vec!["missing.log"], "cannot open"),
    ] {
        let mut arguments = vec!["twin", "fit"];
        arguments.extend(&files);
        arguments.extend(["-o", "card.toml"]);
        let run = flashscope(&arguments).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(part) && run.stderr.contains("hint:"), "{files:?}: {}", run.stderr);
        assert!(run.stdout.is_empty());
        assert!(!folder.join("card.toml").exists(), "{files:?}");
    }
}
