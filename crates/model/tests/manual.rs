//! What the manual lists is what the tables hold.

use flashscope_model::{ExperimentName, Finding};

#[test]
fn the_glossary_lists_every_finding_and_no_other() {
    let glossary = include_str!("../../../docs/glossary.md");
    let from = glossary.find("## Findings").expect("a part on findings");
    let part = glossary[from..].split("\n## ").next().unwrap_or_default();
    let row = |line: &str| line.split('|').map(str::trim).skip(1).take(2).map(str::to_owned).collect::<Vec<_>>();
    let listed: Vec<Vec<String>> = part.lines().filter(|line| line.starts_with("| ")).skip(1).map(row).collect();
    let known: Vec<Vec<String>> =
        Finding::ALL.iter().map(|finding| vec![finding.label().to_owned(), format!("`{}`", finding.wire())]).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_experiment_has_its_page_and_the_manual_leads_to_it() {
    let manual = include_str!("../../../docs/probes/README.md");
    for name in ExperimentName::ALL {
        let page = format!("{}.md", name.word());
        assert!(manual.contains(&format!("({page})")), "docs/probes/README.md does not lead to {page}");
        let path = format!("{}/../../docs/probes/{page}", env!("CARGO_MANIFEST_DIR"));
        assert!(std::path::Path::new(&path).exists(), "{path}");
    }
}
