use super::html;
use super::sample::sample;
use crate::qualification::sheets;
use flashscope_model::qualification::{Answer, RowResult, RunOutcome};

/// The sheet, which is the first printed page.
fn first_page(page: &str) -> &str {
    let begin = page.find("<header class=\"sheet\">").expect("the sheet begins");
    &page[begin..begin + page[begin..].find("</header>").expect("it ends")]
}

#[test]
fn the_sheet_answers_by_itself() {
    let page = html(&sample());
    let sheet = first_page(&page);
    for told in [
        "The candidate may not replace the reference",
        "0x15 MMC16P 0x5b2a0001",
        "0x70 EM16G 0x11020304",
        "OTA update",
        "≤ 1.1 × ref.",
        "1.41 (1.36 to 1.46)",
        "keeps 2 units open",
        "First boot",
        "6 more blocks would probably do",
        "Does what its registers claim",
        "unsupported by host",
        "wear over years",
        "Writes that others wait for",
        "needs three of each",
        "times its capacity",
        &"5e".repeat(32),
    ] {
        assert!(sheet.contains(told), "{told}");
    }
    assert!(!sheet.contains("Sequential read"), "what decides nothing stands below");
    assert!(page.contains("break-after: page") && !sheet.contains("<b>"), "foreign words are escaped");
}

#[test]
fn everything_that_it_rests_on_follows() {
    let record = sample();
    let page = html(&record);
    let rest = &page[page.find("<main>").expect("the rest")..];
    for requirement in &record.plan.requirements {
        assert!(rest.contains(&requirement.title), "{}", requirement.title);
    }
    assert!(rest.contains("Limit: ≥ 0.95 × ref.") && rest.contains("Limit: ≤ 1.1 × ref."));
    assert!(rest.contains(&"9f".repeat(32)), "hashes of the records");
    assert!(rest.contains("in 8 blocks of 30 at most, each from the state filled"));
}

#[test]
fn where_all_is_met_the_nearest_to_its_limit_comes_first() {
    let mut record = sample();
    record.rows.iter_mut().for_each(|row| row.result = RowResult::Pass);
    let verdict = record.verdict.as_mut().expect("both sides");
    (verdict.answer, verdict.deciding) = (Answer::MayReplace, (0..record.rows.len()).collect());
    record.plan.quick = false;
    let page = html(&record);
    let sheet = first_page(&page);
    assert!(sheet.contains("The candidate may replace the reference, by emmc-second-source."));
    let at = |title: &str| sheet.find(title).unwrap_or_else(|| panic!("{title}"));
    assert!(at("First boot") < at("Random read") && at("Random read") < at("Sequential read"));
    assert!(!sheet.contains("not shown"));
}

#[test]
fn spreadsheets_have_a_row_a_requirement_and_a_row_a_figure() {
    let record = sample();
    let [rows, runs] = &sheets(&record)[..] else { panic!("two sheets") };
    assert_eq!((rows.name.as_str(), rows.rows.len()), ("results", record.rows.len()));
    let told = |run: &flashscope_model::qualification::RunDone| match &run.outcome {
        RunOutcome::Done { figures, answers } => (figures.len() + answers.len()).max(1),
        _ => 1,
    };
    assert_eq!((runs.name.as_str(), runs.rows.len()), ("runs", record.runs.iter().map(told).sum()));
    assert!(rows.rows.iter().all(|row| row.len() == rows.headings.len()));
    assert!(runs.rows.iter().all(|row| row.len() == runs.headings.len()));
}
