//! What is only planned: nothing is listed that would not be done.

use crate::harness::{flashscope, scratch};

const DONE: i32 = 0;
const CANNOT: i32 = 2;

/// The sum of the sizes behind a word, in MiB.
fn listed(text: &str, word: &str) -> f64 {
    let sizes = text.lines().filter_map(|line| line.split_once(word));
    let size = |(_, size): (&str, &str)| {
        let (number, unit) = size.trim().split_once(' ').expect("a number and a unit");
        let factor = match unit {
            "KiB" => 1.0 / 1024.0,
            "MiB" => 1.0,
            "GiB" => 1024.0,
            other => panic!("{other} is no unit of this test"),
        };
        number.parse::<f64>().expect("a number") * factor
    };
    sizes.map(size).sum()
}

#[test]
fn inspect_lists_no_more_than_it_may_write() {
    for (model, budget) in [("sim:sd-4mib", "1G"), ("sim:ssd-consumer", "100M"), ("sim:ssd-consumer", "2G")] {
        let run = flashscope(&["inspect", model, "--max-write", budget, "--dry-run"]).run();
        run.expect(DONE);
        let sum = listed(&run.stdout, ": usually ");
        let most = listed(&run.stdout.replace("; what", "\nwhat"), "writes at most ");
        assert!(sum > 0.0 && sum <= most, "{sum} MiB of {most} MiB:\n{}", run.stdout);
    }
}

#[test]
fn a_run_that_would_be_refused_is_refused_when_it_is_planned() {
    let folder = scratch();
    let file = folder.join("load.tmp");
    let file = file.to_str().unwrap();
    let check = |words: &[&str]| {
        let run = flashscope(&[words, &["--max-write", "10M", "--dry-run"]].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains("more than --max-write allows (10 MiB)"), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("\nhint: "), "{words:?}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{words:?}: {}", run.stdout);
    };
    check(&["bench", "sim:sd-4mib", "--rw", "write", "--size", "64M"]);
    check(&["bench", "iozone", "-f", file, "-s", "64m", "-r", "64", "-i", "0"]);
    // What time ends writes as much as it may.
    let words = ["bench", "sim:sd-4mib", "--preset", "crystaldiskmark", "--max-write", "10M", "--dry-run"];
    let run = flashscope(&words).run();
    run.expect(DONE);
    assert!(run.stdout.lines().next().is_some_and(|line| line.ends_with("writes at most 10 MiB")), "{}", run.stdout);
    assert!(std::fs::read_dir(&folder).unwrap().next().is_none(), "nothing is made");
}
