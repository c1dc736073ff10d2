//! Presets and the reports of load, as a user meets them.

use crate::app::with_player;
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
    for wanted in [
        "crystaldiskmark",
        "androbench",
        "androbench-3",
        "mobibench",
        "sd-class",
        "app-class",
        "android-cdd",
        "mmc-basic",
        "dd",
        "snia-wsat",
    ] {
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

/// A preset of one small job and of a few transactions, and the app that they are of.
pub(crate) fn with_transactions(folder: &std::path::Path) {
    let app = flashscope(&["app", "mobibench-sqlite", "--explain"]).run();
    app.expect(DONE);
    std::fs::write(folder.join("rows.toml"), app.stdout.replace("times = 1000", "times = 8")).unwrap();
    let preset = "[preset]\nname = \"mine\"\ntitle = \"mine\"\nsource = \"me\"\nrepeat = 2\n\
        [[job]]\nname = \"w\"\nrw = \"write\"\nspan = \"1MiB\"\nbs = \"64KiB\"\n\
        [[figure]]\nname = \"writing\"\njob = \"w\"\nof = \"write bytes/s\"\n\
        [[app]]\nname = \"./rows.toml\"\n\
        [[app.figure]]\nname = \"SQLite insert\"\noperation = \"insert\"\n\
        [[app.figure]]\nname = \"SQLite delete\"\noperation = \"delete\"\n";
    std::fs::write(folder.join("mine.toml"), preset).unwrap();
}

#[test]
fn transactions_are_played_beside_the_jobs_and_are_figures_everywhere() {
    with_player();
    let folder = scratch();
    with_transactions(&folder);
    std::fs::create_dir(folder.join("d")).unwrap();
    let words = ["bench", "d", "--preset", "./mine.toml", "-o", "a.json", "--report", "a.html", "--report", "a.md"];
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(DONE);
    assert!(run.stdout.contains("SQLite insert") && run.stdout.contains(" TPS"), "{}", run.stdout);
    let record: Value = serde_json::from_slice(&std::fs::read(folder.join("a.json")).unwrap()).unwrap();
    let preset = &record["preset"];
    let runs = preset["played"]["app_runs"].as_array().unwrap();
    assert_eq!((runs.len(), &preset["left_out"]), (2, &Value::Array(Vec::new())));
    for (at, name) in [(1, "insert"), (2, "delete")] {
        let figure = &preset["figures"][at];
        assert_eq!(
            (&figure["name"], &figure["unit"]),
            (&format!("SQLite {name}").into(), &"transactions_per_s".into())
        );
        for (run, value) in runs.iter().zip(figure["values"].as_array().unwrap()) {
            let operations = run["operations"].as_array().unwrap();
            let times = &operations.iter().find(|found| found["name"] == name).unwrap()["response_time_ns"];
            let times: Vec<u64> = times.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
            let expected = times.len() as f64 / (times.iter().sum::<u64>() as f64 / 1e9);
            assert_eq!(times.len(), 8);
            assert!((value.as_f64().unwrap() / expected - 1.0).abs() < 1e-9, "{value}: {expected}");
        }
    }
    assert_eq!(preset["played"]["place"]["sync_call"], "fdatasync");
    let page = std::fs::read_to_string(folder.join("a.html")).unwrap();
    assert!(page.contains("SQLite delete") && page.contains("waits for the medium by fdatasync"));
    assert!(std::fs::read_to_string(folder.join("a.md")).unwrap().contains("SQLite"));
    flashscope(&["bench", "d", "--preset", "./mine.toml", "-o", "b.json"]).current_dir(&folder).run().expect(DONE);
    let compared = flashscope(&["compare", "a.json", "b.json"]).current_dir(&folder).run();
    compared.expect(DONE);
    assert!(compared.stdout.contains("SQLite insert"), "{}", compared.stdout);
    assert_eq!(std::fs::read_dir(folder.join("d")).unwrap().count(), 0, "nothing is left in the directory");
}

#[test]
fn where_nothing_can_be_played_the_jobs_stand_and_what_to_do_is_said() {
    let folder = scratch();
    with_transactions(&folder);
    std::fs::write(folder.join("file"), vec![0; 2 << 20]).unwrap();
    let check = |run: Run, words: &str| {
        run.expect(DONE);
        let preset = &json(&run)["preset"];
        assert!(preset["figures"][0]["value"].as_f64().is_some(), "{preset}");
        let left_out = preset["left_out"].as_array().unwrap();
        assert_eq!(
            (left_out.len(), &left_out[0]["job"], &preset["played"]),
            (2, &"SQLite insert".into(), &Value::Null)
        );
        let why = left_out[0]["why"].as_str().unwrap();
        assert!(why.contains(words) && why.contains("hint: "), "{why}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    };
    let words = ["bench", "file", "--preset", "./mine.toml", "--json", "--allow-write", "--destroy-signatures"];
    check(flashscope(&words).current_dir(&folder).run(), "no file system in it");
    let words = ["bench", ".", "--preset", "./mine.toml", "--json", "--max-write", "64MiB"];
    check(flashscope(&words).current_dir(&folder).run(), "--max-write");
    let text = std::fs::read_to_string(folder.join("mine.toml"))
        .unwrap()
        .replace("operation = \"delete", "operation = \"delte");
    std::fs::write(folder.join("mine.toml"), text).unwrap();
    let run = flashscope(&["bench", "sim:sd-4mib", "--preset", "./mine.toml"]).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("no operation 'delte'") && run.stderr.contains("hint: "), "{}", run.stderr);
}

#[test]
fn without_the_player_it_is_said_how_to_build_it() {
    let folder = scratch();
    with_transactions(&folder);
    let alone = folder.join("flashscope");
    let built = env!("CARGO_BIN_EXE_flashscope");
    std::fs::hard_link(built, &alone).or_else(|_| std::fs::copy(built, &alone).map(drop)).unwrap();
    let words = ["bench", ".", "--preset", "./mine.toml", "--json"];
    let output = std::process::Command::new(&alone).args(words).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(DONE), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    let why = record["preset"]["left_out"][0]["why"].as_str().unwrap();
    assert!(why.contains("cargo build --release -p flashscope-player"), "{why}");
    assert!(record["preset"]["figures"][0]["value"].as_f64().is_some());
}
