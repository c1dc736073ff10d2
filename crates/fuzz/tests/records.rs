//! Every number of the record fixtures, replaced by extremes one at a time: the record is refused by the number's path, or is
//! concluded from and shown in every form. Nothing panics.

#[path = "../../record/tests/fixture/mod.rs"]
mod fixture;

use flashscope_model::RunRecord;
use flashscope_report::Style;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::catch_unwind;

/// The path of every number, as steps of a JSON pointer. Of a list the first and the last item stand for all.
fn numbers(at: &str, value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| numbers(&format!("{at}/{name}"), value, into)),
        Value::Array(items) => {
            let ends = BTreeSet::from([0, items.len().saturating_sub(1)]);
            let samples = items.iter().all(Value::is_number);
            for (number, item) in items.iter().enumerate().filter(|(number, _)| !samples || ends.contains(number)) {
                numbers(&format!("{at}/{number}"), item, into);
            }
        }
        Value::Number(_) => into.push(at.to_owned()),
        _ => {}
    }
}

/// The path without the numbers of items: what is tried once need not be tried in every row.
fn kind(path: &str) -> String {
    path.split('/').map(|step| if step.parse::<usize>().is_ok() { "#" } else { step }).collect::<Vec<_>>().join("/")
}

fn extremes() -> Vec<Value> {
    vec![
        json!(0),
        json!(-1),
        json!(1u64 << 48),
        json!(315_000_000_000_000_000u64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e15),
        json!(-1e300),
        json!(1e-300),
    ]
}

/// Reads it, concludes and shows it.
fn work(text: &str) {
    let Ok(mut record) = flashscope_record::from_json::<RunRecord>(text) else { return };
    // As it stands, and as it is concluded from again.
    for again in [false, true] {
        if again {
            record.findings = flashscope_infer::infer_on(record.envelope.device.as_ref(), &record.observations);
        }
        let _ = flashscope_report::terminal(&record, Style { colour: true, width: 80, verbose: true });
        let _ = flashscope_report::html(&record);
        let _ = flashscope_report::markdown(&record);
        let _ = flashscope_report::csv(&record);
        let _ = flashscope_record::to_json(&record);
    }
}

#[test]
fn no_number_of_a_record_panics_what_reads_it() {
    let mut tried = BTreeSet::new();
    let mut wrong = String::new();
    for record in [fixture::simulated_card(), fixture::lost_device(), fixture::pasted_log()] {
        let whole: Value = serde_json::from_str(&flashscope_record::to_json(&record)).expect("a record is JSON");
        let mut paths = Vec::new();
        numbers("", &whole, &mut paths);
        for path in paths.into_iter().filter(|path| tried.insert(kind(path))) {
            for extreme in extremes() {
                let mut edited = whole.clone();
                *edited.pointer_mut(&path).expect("the path was found in the record") = extreme.clone();
                let text = edited.to_string();
                if catch_unwind(|| work(&text)).is_err() {
                    writeln!(wrong, "{path} = {extreme}").expect("a string takes all");
                }
            }
        }
    }
    assert!(tried.len() > 100, "{} kinds of numbers are few", tried.len());
    assert!(wrong.is_empty(), "panics:\n{wrong}");
}
