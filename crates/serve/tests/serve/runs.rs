//! What can be started from a page.

use crate::harness::Served;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn nothing_that_writes_to_a_real_device_can_be_started() {
    let served = Served::of(&[], &[]);
    // A file that a worker would find, were it told of it.
    let bait = served.folder.join("bait.img");
    std::fs::write(&bait, vec![7; 1 << 20]).unwrap();
    let bait = bait.display().to_string();
    let hostile = [
        ("/dev/sda", ""),
        ("/dev/loop0", ""),
        ("sim:/dev/sda", ""),
        (bait.as_str(), ""),
        ("bait.img", ""),
        ("../bait.img", ""),
        ("sd-4mib", "state=bait.img"),
        ("sd-4mib", "state=/dev/sda"),
        ("sd-4mib --destroy-data=1", ""),
        ("--destroy-data=1", ""),
        ("sd-4mib", "x\n/dev/sda"),
        ("", "/dev/sda"),
        ("sd-4mib\0/dev/sda", ""),
    ];
    let coded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    for (model, changes) in hostile {
        let form = format!("model={}&changes={}&work=write", coded(model), coded(changes));
        let answer = served.send("/runs", &form);
        assert_eq!(answer.status, 400, "{model:?} {changes:?}: {answer:?}");
    }
    for work in ["", "prune", "state --make=full", "inspect --destroy-data=1", "../inspect", "emulate"] {
        let answer = served.send("/runs", &format!("model=sd-4mib&work={}", coded(work)));
        assert_eq!(answer.status, 400, "{work:?}: {answer:?}");
    }
    // Fields that no form of ours has are no way to an option.
    let more = "model=/dev/sda&destroy-data=1&target=/dev/sda&words=--allow-write&work=inspect";
    assert_eq!(served.send("/runs", more).status, 400);
    assert_eq!(served.get("/api/runs").json(), Value::Array(Vec::new()), "nothing was started");
    assert_eq!(std::fs::read(served.folder.join("bait.img")).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn runs_are_kept_in_the_history_bounded_in_number_and_stopped() {
    let beside = Path::new(env!("CARGO_BIN_EXE_flashscope-serve")).with_file_name("flashscope");
    if !beside.is_file() {
        println!("LEFT OUT: runs that pages start (no {}, which cargo test --workspace builds)", beside.display());
        return;
    }
    let served = Served::of(&[], &["--runs", "1"]);
    // A long one, which stands in the way of the next until it is stopped.
    let long = served.send("/runs", "model=ssd-consumer&work=class");
    assert_eq!(long.status, 303, "{long:?}");
    let second = served.send("/runs", "model=sd-4mib&work=read");
    if second.status == 303 {
        // The first one was quicker than this test.
        let first = served.get("/api/runs").json();
        assert!(first.as_array().unwrap().iter().any(|run| run["run"] == 1 && run["state"] == "done"), "{first}");
    } else {
        assert!(second.status == 429 && second.body.contains("--runs"), "{second:?}");
        assert_eq!(served.send("/runs/1/stop", "").status, 303);
        until(&served, |runs| runs[0]["state"] != "under way" && runs[0]["state"] != "stopping");
        assert_eq!(served.send("/runs", "model=sd-4mib&work=read").status, 303);
    }
    let runs = until(&served, |runs| runs[0]["run"] == 2 && runs[0]["state"] == "done");
    let record = runs[0]["record"].as_i64().unwrap();
    let kept = served.get(&format!("/api/records/{record}")).json();
    assert_eq!((kept["target"].as_str(), kept["kind"].as_str()), (Some("sim:sd-4mib"), Some("bench")));
    assert_eq!(served.send("/runs/77/stop", "").status, 404);
}

fn until(served: &Served, is_so: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let runs = served.get("/api/runs").json();
        if is_so(&runs) {
            return runs;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{runs}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
