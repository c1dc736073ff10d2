//! Plans on simulated devices, and what a plan cannot do.

use crate::harness::{Place, flashscope};
use std::process::Command;

const TWO: &str = "name = \"two\"\n[[device]]\nname = \"card\"\nsim = \"sim:sd-4mib\"\ncount = 2\n\
                   [[work]]\nname = \"fake\"\nrun = \"capacity\"\n[[work]]\nname = \"speed\"\nrun = \"bench\"\n\
                   options = { rw = \"randread\", size = \"16MiB\", runtime = \"1s\" }\n";

#[test]
fn findings_are_those_of_a_solo_run_and_nothing_is_done_twice() {
    let place = Place::new();
    let program = flashscope();
    place.plan(TWO);
    let record = place.record(&["run", "plan.toml"], 0);
    let runs = record["lab_runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for run in runs {
        assert_eq!(run["state"], "done", "{run}");
        let lab = std::fs::read(place.path("two.lab").join(run["record"].as_str().unwrap())).unwrap();
        let seed = if run["device"] == "card-2" { "2" } else { "1" };
        let words: Vec<&str> = run["command"].as_str().unwrap().split(' ').collect();
        let solo = Command::new(program)
            .args(&words)
            .args(["sim:sd-4mib", "--seed", seed, "--json"])
            .env("XDG_CONFIG_HOME", place.path("none"))
            .output()
            .unwrap();
        assert!(solo.stdout == lab, "{} on {} differs from a solo run", run["work"], run["device"]);
    }
    let again = place.record(&["run", "plan.toml"], 0);
    assert_eq!(again["lab_runs"], record["lab_runs"], "done is done");
    let status = place.run(&["status", "plan.toml"]);
    status.expect(0);
    assert!(status.stdout.starts_with("4 of 4 runs on 2 devices are done"), "{}", status.stdout);
}

#[test]
fn what_fails_is_tried_three_times_and_said() {
    let place = Place::new();
    flashscope();
    place.plan(
        "name = \"p\"\n[[device]]\nsim = \"sim:no-such-card\"\n[[device]]\nsim = \"sim:sd-4mib\"\n\
         [[work]]\nname = \"fake\"\nrun = \"capacity\"\n",
    );
    let record = place.record(&["run", "plan.toml", "--retry-after", "1ms"], 1);
    let failed = &record["lab_runs"][0];
    assert_eq!((failed["state"].as_str(), failed["failures"].as_u64()), (Some("failed"), Some(3)), "{failed}");
    assert!(failed["why"].as_str().unwrap().contains("no-such-card"), "{failed}");
    assert_eq!(record["lab_runs"][1]["state"], "done", "one failure leaves the others alone");
    // Given up is given up, until somebody says otherwise.
    assert_eq!(place.record(&["run", "plan.toml"], 1)["lab_runs"][0]["attempts"], 3);
    let again = place.record(&["run", "plan.toml", "--retry-failed", "--retry-after", "1ms"], 1);
    assert_eq!(again["lab_runs"][0]["attempts"], 6);
}

#[test]
fn a_plan_holds_no_commands_and_another_lab_is_left_alone() {
    let place = Place::new();
    for (text, why) in [
        (TWO.replace("run = \"capacity\"", "run = \"sh\""), "no command 'sh'"),
        (format!("{TWO}power = \"rack-1\"\n"), "it cuts no power"),
        (format!("command = \"touch pwned\"\n{TWO}"), "unknown field"),
        (TWO.replace("16MiB", "$(touch pwned)"), "does not do for size"),
        (TWO.replace("\"two\"", "\"../two\""), "no name for the plan"),
        (TWO.replace("sim:sd-4mib", "sim:./plan.toml"), "no simulated device"),
    ] {
        place.plan(&text);
        let run = place.run(&["run", "plan.toml"]);
        run.expect(2);
        assert!(run.stderr.contains(why) && run.stderr.contains("hint: "), "{}", run.stderr);
    }
    assert!(!place.path("pwned").exists());
    std::fs::create_dir(place.path("two.lab")).unwrap();
    std::fs::write(place.path("two.lab/lab.db"), "no database, but somebody's").unwrap();
    place.plan(TWO);
    flashscope();
    place.run(&["run", "plan.toml"]).expect(2);
    assert_eq!(std::fs::read(place.path("two.lab/lab.db")).unwrap(), b"no database, but somebody's");
}
