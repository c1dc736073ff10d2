//! Presets and the reports of load, as a user meets them.

use crate::harness::{Run, flashscope, scratch};
use serde_json::Value;

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", run.stdout, run.stderr))
}

#[test]
fn every_preset_is_listed_and_explains_itself_as_a_file_that_can_be_changed() {
    let list = flashscope(&["bench", "--presets"]).run();
    list.expect(DONE);
    let names: Vec<&str> = list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for wanted in
        ["crystaldiskmark", "androbench", "sd-class", "app-class", "android-cdd", "mmc-basic", "dd", "snia-wsat"]
    {
        assert!(names.contains(&wanted), "{wanted} is not among {names:?}");
    }
    let explained = flashscope(&["bench", "--preset", "mmc-basic", "--explain"]).run();
    explained.expect(DONE);
    let folder = scratch();
    let mine = explained.stdout.replace("repeat = 6", "repeat = 2").replace("name = \"mmc-basic\"", "name = \"mine\"");
    std::fs::write(folder.join("mine.toml"), mine).unwrap();
    let run = flashscope(&["bench", "sim:sd-4mib", "--preset", "./mine.toml", "--json"]).current_dir(&folder).run();
    run.expect(DONE);
    let record = json(&run);
    assert_eq!(
        (&record["preset"]["name"], record["phases"][0]["runs"].as_array().map(Vec::len)),
        (&"mine".into(), Some(2))
    );
    assert_eq!(record["preset"]["figures"][0]["values"].as_array().map(Vec::len), Some(2));
}

#[test]
fn mistakes_are_named_before_anything_runs() {
    let folder = scratch();
    std::fs::write(folder.join("bad.toml"), "[preset]\nname = \"x\"\ntitle = \"x\"\nsource = \"x\"\nbest = true\n")
        .unwrap();
    let check = |arguments: &[&str], words: &str| {
        let run = flashscope(arguments).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    };
    check(&["bench", "sim:sd-4mib", "--preset", "no-such"], "one of crystaldiskmark");
    check(&["bench", "sim:sd-4mib", "--preset", "./gone.toml"], "cannot read ./gone.toml");
    check(&["bench", "sim:sd-4mib", "--preset", "./bad.toml"], "best");
    check(&["bench", "sim:sd-4mib", "--preset", "mmc-basic", "--report", "x.pdf"], ".xlsx");
    check(&["bench", "sim:sd-4mib", "--preset", "mmc-basic", "--require", "A1"], "no limit called 'A1'");
    check(&["bench", "sim:sd-4mib", "--preset", "sd-class", "--payload", "urandom"], "virtual time has none");
    check(&["bench", "--explain"], "--preset");
}

#[test]
fn limits_come_with_their_interval_and_what_bounds_them() {
    let run = flashscope(&["bench", "sim:sd-4mib", "--preset", "app-class", "--quick", "--json"]).run();
    run.expect(DONE);
    let record = json(&run);
    let preset = &record["preset"];
    assert_eq!(preset["changed"][0], "runtime: 10.0 s → 500 ms");
    let figure = &preset["figures"][0];
    let (low, high) = (figure["interval"]["low"].as_f64().unwrap(), figure["interval"]["high"].as_f64().unwrap());
    let measured = figure["value"].as_f64().unwrap();
    assert!(low <= measured && measured <= high);
    let limit = &figure["limits"][0];
    let expected = if low >= 1500.0 {
        "met"
    } else if high < 1500.0 {
        "missed"
    } else {
        "cannot_tell"
    };
    assert_eq!((&limit["name"], &limit["verdict"]), (&"A1".into(), &expected.into()));
    assert!(preset["bounds"].as_array().is_some_and(|bounds| bounds.iter().any(|fact| fact["name"] == "host")));
    let with = |limit: &str| {
        flashscope(&["bench", "sim:sd-4mib", "--preset", "app-class", "--quick", "--require", limit]).run()
    };
    with("A2").expect(EXPECTATION);
    flashscope(&["bench", "sim:sd-flat", "--preset", "sd-class", "--require", "V30"]).run().expect(EXPECTATION);
    flashscope(&["bench", "sim:sd-flat", "--preset", "sd-class", "--require", "V10"]).run().expect(DONE);
}

#[test]
fn figures_of_memory_are_not_judged() {
    let folder = std::path::Path::new("/dev/shm").join(format!("flashscope-presets-{}", std::process::id()));
    if std::fs::create_dir(&folder).is_err() {
        return crate::harness::left_out("a preset on a file system in memory");
    }
    let run = flashscope(&[
        "bench",
        folder.to_str().unwrap(),
        "--preset",
        "app-class",
        "--quick",
        "--runtime",
        "20ms",
        "--size",
        "4M",
        "--mode",
        "cached",
        "--json",
    ])
    .run();
    let _ = std::fs::remove_dir_all(&folder);
    run.expect(DONE);
    let record = json(&run);
    let limit = &record["preset"]["figures"][0]["limits"][0];
    assert_eq!(limit["verdict"], "cannot_tell");
    assert!(limit["why"].as_str().is_some_and(|why| why.contains("memory's")), "{limit}");
}

#[test]
fn modes_of_dd_stand_side_by_side_and_urandom_costs() {
    let folder = scratch();
    let run = flashscope(&[
        "bench",
        folder.to_str().unwrap(),
        "--preset",
        "dd",
        "--size",
        "8M",
        "--repeat",
        "3",
        "--mode",
        "cached",
        "--json",
    ])
    .run();
    run.expect(DONE);
    let record = json(&run);
    let figures = record["preset"]["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 12);
    let rate = |name: &str| {
        let figure = figures.iter().find(|figure| figure["name"] == name).unwrap();
        figure["value"].as_f64().unwrap()
    };
    // Drawing bytes takes far longer than copying them into the page cache.
    assert!(rate("cached, urandom") < 0.8 * rate("cached, random"));
    assert!(figures.iter().all(|figure| figure["whose"].is_string()));
    let precious = folder.join("precious");
    std::fs::write(&precious, vec![7; 4 << 20]).unwrap();
    flashscope(&["bench", precious.to_str().unwrap(), "--preset", "mmc-basic"]).run().expect(REFUSED);
    assert!(std::fs::read(&precious).unwrap() == vec![7; 4 << 20]);
}

#[test]
fn a_result_is_read_back_and_reported_in_every_form() {
    let schema = flashscope(&["bench", "--schema"]).run();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema.stdout).unwrap()).unwrap();
    let folder = scratch();
    let here = |arguments: &[&str]| flashscope(arguments).current_dir(&folder).run();
    let plain = ["bench", "sim:sd-4mib", "--rw", "randrw", "--size", "16M", "--count", "600", "--repeat", "6"];
    let preset = ["bench", "sim:sd-4mib", "--preset", "sd-class"];
    for (name, arguments) in [("plain", &plain[..]), ("preset", &preset[..])] {
        let kept = format!("{name}.json");
        let page = format!("{name}.html");
        let all = [arguments, &["-o", &kept, "--report", &page]].concat();
        here(&all).expect(DONE);
        let text = std::fs::read_to_string(folder.join(&kept)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&serde_json::from_str(&text).unwrap()).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let again = here(&["report", &kept, "--format", "json"]);
        assert!(again.stdout == text, "what is read back is written the same");
        let html = here(&["report", &kept, "--format", "html"]).stdout;
        assert!(
            html.trim_end() == std::fs::read_to_string(folder.join(&page)).unwrap().trim_end() && html.contains("<svg")
        );
        // The script at its end names the address of its authors, and loads nothing (`scripts/browser-test`).
        let shown = html.split("<script>").next().unwrap_or_default();
        assert!(!shown.contains("http:") && !shown.contains("https:"), "a page names no address");
        let csv = here(&["report", &kept, "--format", "csv"]).stdout;
        let columns: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).take(2).collect();
        assert!(csv.starts_with("phase,run,job,direction,") && columns[0] <= columns[1], "{csv}");
        here(&["report", &kept, "--format", "xlsx"]).expect(CANNOT);
        here(&["report", &kept, "--format", "xlsx", "-o", "book.xlsx"]).expect(DONE);
        assert!(std::fs::read(folder.join("book.xlsx")).unwrap().starts_with(b"PK"));
        here(&["report", &kept]).expect(DONE);
        here(&["report", &kept, "--format", "markdown"]).expect(DONE);
    }
    std::fs::write(folder.join("cut.json"), &std::fs::read(folder.join("plain.json")).unwrap()[..2000]).unwrap();
    here(&["report", "cut.json"]).expect(CANNOT);
}

#[test]
fn rounds_end_when_steady_and_say_what_they_may_be_called() {
    let drive = "sim:ssd-consumer,device.capacity=1073741824,mapping.nand.pages_per_block=36,\
                 mapping.nand.blocks_per_plane=72,mapping.nand.bad_blocks=0,mapping.slc.max_superblocks=4,\
                 mapping.slc.keep_free=3";
    let run = flashscope(&["bench", drive, "--preset", "snia-throughput", "--quick", "--json"]).run();
    run.expect(DONE);
    let record = json(&run);
    let rounds = &record["preset"]["rounds"];
    let steady = rounds["steady_at"].as_u64().expect("it becomes steady");
    assert_eq!(rounds["run_count"], steady);
    let runs: Vec<usize> =
        record["phases"].as_array().unwrap().iter().map(|phase| phase["runs"].as_array().unwrap().len()).collect();
    assert_eq!(runs, [1, 1, steady as usize, steady as usize, steady as usize, steady as usize]);
    let notes = record["preset"]["notes"].to_string();
    assert!(notes.contains("NOT a result by SNIA PTS"), "{notes}");
}
