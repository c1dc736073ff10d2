//! Published logs of real cards against one expert's careful reading: no finding may contradict it, and what a log
//! settles must be found.

use flashscope_model::finding::UpTo;
use flashscope_model::{Estimate, Findings};
use flashscope_units::Bytes;
use serde_json::Value;
use std::path::PathBuf;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn findings(log: &str) -> Findings {
    let bytes = std::fs::read(fixtures().join(log)).expect("a fixture");
    flashscope_infer::infer(&flashscope_transcript::parse_bytes(&bytes).observations)
}

/// How a finding stands to a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The reading gives a figure, and so does the finding, the same one.
    Found,
    /// The reading gives a figure and the finding none, or a bound that holds.
    Abstained,
    /// The reading gives no figure and the finding none.
    RightlyOpen,
    /// They cannot both be right.
    Contradicts,
}

/// `reading` is a number, `{"at_least": n}`, or absent: then the log does not settle the figure.
fn judge(reading: &Value, value: Option<u64>, at_least: Option<u64>, at_most: Option<u64>) -> Verdict {
    let bounds_hold =
        |figure: u64| at_least.is_none_or(|least| least <= figure) && at_most.is_none_or(|most| figure <= most);
    match (reading.as_u64(), reading["at_least"].as_u64(), value) {
        (Some(figure), _, Some(value)) if figure == value => Verdict::Found,
        (Some(_), _, Some(_)) => Verdict::Contradicts,
        (Some(figure), _, None) if bounds_hold(figure) => Verdict::Abstained,
        (Some(_), _, None) => Verdict::Contradicts,
        (None, Some(least), Some(value)) if value < least => Verdict::Contradicts,
        (None, Some(_), Some(_)) => Verdict::Contradicts,
        (None, Some(least), None) if at_most.is_some_and(|most| most < least) => Verdict::Contradicts,
        (None, _, Some(_)) => Verdict::Contradicts,
        (None, _, None) => Verdict::RightlyOpen,
    }
}

fn judge_size(reading: &Value, estimate: &Estimate<Bytes>) -> Verdict {
    let get = |bytes: Option<Bytes>| bytes.map(Bytes::get);
    judge(reading, get(estimate.value()), get(estimate.least()), get(estimate.most()))
}

fn judge_count(reading: &Value, estimate: &Estimate<u32>) -> Verdict {
    judge(reading, estimate.value().map(u64::from), estimate.least().map(u64::from), estimate.most().map(u64::from))
}

#[test]
fn findings_never_contradict_the_careful_readings() {
    let text = std::fs::read_to_string(fixtures().join("field/readings.json")).expect("readings.json");
    let readings: Value = serde_json::from_str(&text).expect("readings.json is JSON");
    let logs = readings["logs"].as_array().expect("logs");
    assert_eq!(logs.len(), 20);

    let (mut found, mut settled) = (0, 0);
    let (mut contradictions, mut table) = (Vec::new(), Vec::new());
    for log in logs {
        let file = log["file"].as_str().expect("a file name");
        let reading = &log["careful_reading"];
        let geometry = findings(&format!("field/{file}")).geometry;
        let verdicts = [
            ("allocation unit", judge_size(&reading["erase_block"], &geometry.allocation_unit)),
            ("page", judge_size(&reading["page"], &geometry.page)),
            ("open units in order", judge_count(&reading["open_au_linear"], &geometry.open_units_linear)),
            ("open units random", judge_count(&reading["open_au_random"], &geometry.open_units_random)),
        ];
        table.push(format!("{file:24} {}", verdicts.map(|(name, verdict)| format!("{name}: {verdict:?}")).join("  ")));
        for (name, verdict) in verdicts {
            settled += u32::from(matches!(verdict, Verdict::Found | Verdict::Abstained));
            found += u32::from(verdict == Verdict::Found);
            if verdict == Verdict::Contradicts {
                contradictions.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(contradictions.is_empty(), "{contradictions:#?}");
    assert!(
        f64::from(found) >= 0.95 * f64::from(settled),
        "only {found} of {settled} settled figures were found:\n{}",
        table.join("\n")
    );
}

#[test]
fn the_published_sd_card_is_read_as_its_owner_read_it() {
    let geometry = findings("transcripts/sd-card-4mib.txt").geometry;
    assert_eq!(geometry.allocation_unit.value(), Some(Bytes::mib(4)));
    assert_eq!(geometry.page.value(), Some(Bytes::kib(16)));
    assert_eq!(geometry.open_units_linear.value(), Some(8));
    assert_eq!(geometry.open_units_random.value(), Some(8));
    assert_eq!(geometry.small_write_path.value(), Some(UpTo { size: Bytes::kib(8) }));
    let area = geometry.fast_area.value().expect("a fast area");
    assert_eq!((area.first, area.end), (Bytes::mib(4), Bytes::mib(8)));
    let penalty = geometry.random_order_penalty.value().expect("a penalty");
    assert_eq!(penalty.block, Bytes::kib(16));
    assert!((penalty.ratio / 118.0 - 1.0).abs() < 0.05, "{penalty:?}");
}

#[test]
fn the_published_emmc_keeps_at_most_seven_units_open() {
    let geometry = findings("transcripts/emmc-write-align.txt").geometry;
    let open = &geometry.open_units_linear;
    assert!(open.value().is_none_or(|count| count == 7), "{open:?}");
    assert!(open.most().is_none_or(|most| most >= 7), "{open:?}");
    assert!(
        geometry.allocation_unit.value().is_none_or(|unit| unit == Bytes::mib(4)),
        "{:?}",
        geometry.allocation_unit
    );
    assert!(geometry.page.value().is_none_or(|page| [8, 16].map(Bytes::kib).contains(&page)), "{:?}", geometry.page);
}
