//! `explain` as a user meets it.

use crate::harness::{fixture, flashscope, scratch};

const CANNOT: i32 = 2;

fn trace() -> String {
    fixture("traces/mixed.blkparse.txt")
}

#[test]
fn the_answer_comes_first_and_every_form_has_it() {
    let folder = scratch();
    let cards = ["sim:sd-4mib,noise=none", "sim:sd-4mib,noise=none,link.flush=50ms"];
    let run = flashscope(&["explain", cards[0], cards[1], "--trace", &trace(), "-o", "why.html", "-o", "why.csv"]);
    let run = run.current_dir(&folder).run();
    run.expect(0);
    assert!(run.stdout.starts_with("B takes "), "{}", run.stdout);
    for part in ["because of flush cost (190 µs → 50.0 ms)", "the same on both: ", "exact Shapley values", "+"] {
        assert!(run.stdout.replace('\n', " ").contains(part), "'{part}' is missing from:\n{}", run.stdout);
    }
    let page = std::fs::read_to_string(folder.join("why.html")).expect("a page");
    assert!(page.contains("From A to B") && page.contains("<svg"), "no waterfall");
    let csv = std::fs::read_to_string(folder.join("why.csv")).expect("a table");
    assert!(csv.starts_with("group,share_ns,share_ns_low,") && csv.contains("flush cost,"), "{csv}");

    let json = flashscope(&["explain", cards[0], cards[1], "--trace", &trace(), "--json"]).run();
    json.expect(0);
    let record: serde_json::Value = serde_json::from_str(&json.stdout).expect("a record");
    assert_eq!(record["kind"], "explanation");
    assert_eq!(record["verdict"], "longer");
    assert_eq!(record["shares"][0]["groups"][0]["name"], "flush");
    std::fs::write(folder.join("why.json"), &json.stdout).expect("a file");
    let again = flashscope(&["report", "why.json"]).current_dir(&folder).run();
    again.expect(0);
    assert_eq!(again.stdout.trim_end(), run.stdout.trim_end());
}

#[test]
fn a_device_is_not_told_from_itself() {
    let run = flashscope(&["explain", "sim:sd-flat", "sim:sd-flat", "--trace", &trace()]).run();
    run.expect(0);
    assert!(run.stdout.starts_with("both take the same time"), "{}", run.stdout);
}

#[test]
fn devices_that_map_in_different_ways_are_explained_as_well() {
    let run = flashscope(&["explain", "sim:emmc-cached", "sim:ssd-budget", "--trace", &trace()]).run();
    run.expect(0);
    assert!(run.stdout.contains("mapping as a whole"), "{}", run.stdout);
}

#[test]
fn what_cannot_be_explained_says_what_to_do() {
    let check = |words: &[&str], part: &str| {
        let run = flashscope(words).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(part) && run.stderr.contains("hint"), "'{part}' is missing from:\n{}", run.stderr);
    };
    let trace = trace();
    check(&["explain", "sim:sd-4mibb", "sim:sd-flat", "--trace", &trace], "did you mean");
    check(&["explain", "sim:sd-4mib,seed=3", "sim:sd-flat", "--trace", &trace], "no parameter");
    check(&["explain", "sim:sd-4mib,state=./a.state", "sim:sd-flat", "--trace", &trace], "no parameter");
    check(&["explain", "sim:sd-4mib,capacity=1MiB", "sim:sd-flat", "--trace", &trace], "--scale");
    check(&["explain", "sim:sd-4mib", "sim:sd-flat", "--trace", "no.trace"], "cannot read");
    check(&["explain", &fixture("README.md"), "sim:sd-flat", "--trace", &trace], "is not one record");
    check(
        &["explain", "sim:sd-4mib", "sim:sd-flat", "--trace", &fixture("traces/mixed.fio3.log")],
        "when requests ended",
    );
}
