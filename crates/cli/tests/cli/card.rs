//! The first glance at every model of the catalogue, and the sums and bounds that no report may break.

use crate::harness::{flashscope, scratch};
use serde_json::Value;
use std::path::Path;

/// Lines of a card at most.
const LINES: usize = 10;
/// Columns of the terminal.
const COLUMNS: usize = 80;

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/catalogue");
    let files = std::fs::read_dir(folder).expect("the catalogue").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    assert!(names.len() >= 13, "{names:?}");
    names
}

#[test]
fn every_model_is_told_in_ten_lines_and_no_figure_is_impossible() {
    for model in models() {
        let folder = scratch();
        let target = format!("sim:{model}");
        let call =
            flashscope(&["inspect", &target, "-o", "out"]).current_dir(&folder).env("COLUMNS", COLUMNS.to_string());
        let run = call.run();
        run.expect(0);
        let record = std::fs::read_to_string(folder.join("out.json")).expect("a record");
        let record: Value = serde_json::from_str(&record).expect("JSON");
        card(&model, &run.stdout, &record);
        possible(&model, &record);
        let page = std::fs::read_to_string(folder.join("out.html")).expect("a page");
        let begin = page.find("class=\"card glance\"").expect("the page opens with the card");
        assert!(begin < page.find("<h2").expect("sections"), "{model}: the card stands above all sections");
    }
}

fn card(model: &str, text: &str, record: &Value) {
    // What the shell that shows it wraps is what is longer than the terminal is wide.
    let long = text.lines().find(|line| line.chars().count() > COLUMNS);
    assert_eq!(long, None, "{model}:\n{text}");
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("virtual time")).collect();
    assert!(lines.len() <= LINES, "{model}: {} lines\n{}", lines.len(), lines.join("\n"));
    assert!(lines[0].contains("(simulated), "), "{model}: {}", lines[0]);
    let card = lines.join("\n");
    for part in ["allocation unit", "page", "open units", "sequential", "random 4 KiB", "IOPS", "to do", "not measured"]
    {
        assert!(card.contains(part), "{model}: {part} is missing\n{card}");
    }
    let claim = record["device"]["claims"]["speed_class"].as_str();
    if let Some(class) = claim {
        assert!(card.contains(&format!("claims           {class} (")) && card.contains("here ("), "{model}\n{card}");
    }
}

#[test]
fn published_logs_have_no_impossible_figure_either() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for folder in ["field", "transcripts"] {
        for entry in std::fs::read_dir(fixtures.join(folder)).expect("fixtures") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|ending| ending != "txt") {
                continue;
            }
            let name = path.to_str().expect("a name");
            let run = flashscope(&["infer", name, "--json"]).run();
            run.expect(0);
            possible(name, &serde_json::from_str(&run.stdout).expect("JSON"));
        }
    }
}

/// Probabilities of one question add up to one at most, and an interval lies within what was seen.
fn possible(name: &str, record: &Value) {
    for (finding, estimate) in record["geometry"].as_object().expect("findings") {
        let share = |value: &Value| value["confidence"].as_f64().unwrap_or(0.0);
        let others: f64 = estimate["alternatives"].as_array().into_iter().flatten().map(share).sum();
        // The sizes that a bound leaves open share what it has.
        let open = ["allocation_unit", "page"].contains(&finding.as_str());
        let is_bound = !estimate["at_least"].is_null() || !estimate["at_most"].is_null();
        let sum = if open && is_bound { share(estimate).max(others) } else { share(estimate) + others };
        assert!(sum <= 1.0 + 1e-9, "{name}: {finding}: {sum}");
    }
    for cell in record["performance"].as_array().expect("performance") {
        let time = |field: &str| cell[format!("service_time_ns_{field}")].as_u64().expect("a time");
        let [low, middle, high, longest] = ["p50_low", "p50", "p50_high", "max"].map(time);
        assert!(low > 0 && low <= middle && middle <= high && high <= longest, "{name}: {cell}");
    }
}

#[test]
fn a_file_without_tables_is_said_to_be_one_first_of_all() {
    let folder = scratch();
    std::fs::write(folder.join("no.txt"), "hello\n").expect("a file");
    let run = flashscope(&["infer", "no.txt"]).current_dir(&folder).run();
    run.expect(1);
    let second = run.stdout.lines().nth(1).expect("two lines");
    assert!(
        second.starts_with("  warning") && second.ends_with("no flashbench table was found in this file"),
        "{second}"
    );
    assert!(!run.stdout.contains("Geometry"), "{}", run.stdout);
}

#[test]
fn what_is_only_read_says_what_would_write() {
    let run = flashscope(&["inspect", "--read-only", "--no-files"]).env("COLUMNS", COLUMNS.to_string()).run();
    run.expect(0);
    let card: Vec<&str> = run.stdout.lines().take_while(|line| !line.starts_with("virtual time")).collect();
    let card = card.join("\n");
    assert!(card.contains("class 10 (10 MB/s): not tested, needs write tests"), "{card}");
    assert!(card.contains("all that needs writes (leave out --read-only)"), "{card}");
    assert!(!card.contains(", write "), "nothing was written: {card}");
}
