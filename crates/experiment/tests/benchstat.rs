//! What benchstat says of the same runs (`fixtures/comparisons/benchstat.py`): it ranks where we take logarithms, so that verdicts
//! must agree wherever either is sure, and need not in between.

use flashscope_experiment::table::Reader;
use flashscope_experiment::{Settings, compare};
use flashscope_model::comparison::{Family, Verdict};

const FIXTURE: &str = include_str!("../../../fixtures/comparisons/benchstat.json");

/// The value behind `"name": ` in a line.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.split_once(&format!("\"{name}\": "))?.1;
    Some(rest.trim_end_matches(',').trim_matches('"'))
}

#[test]
fn verdicts_agree_with_benchstat_where_it_is_sure() {
    let (runs, said) = FIXTURE.split_once("\"benchstat\"").expect("both parts");
    let lines = |name: &'static str| runs.lines().filter_map(move |line| field(line, name));
    let rows = lines("label").zip(lines("metric")).zip(lines("ns"));
    let table: String = rows.map(|((label, metric), ns)| format!("{label},{metric},ns,{ns}\n")).collect();
    let readings = Reader::default().read(&format!("label,metric,unit,value\n{table}")).unwrap().remove(0).readings;
    assert_eq!(readings.rows.len(), 240);
    let comparison = compare(&readings, &Settings::new(0.95, 1.001, Family::Each).unwrap());
    let (mut sure, mut nothing) = (0, 0);
    for row in &comparison.rows {
        let name = &readings.metrics[row.metric].name;
        let about = said.split_once(&format!("\"{name}\"")).expect(name).1;
        let of = |what: &str| about.lines().find_map(|line| field(line, what)).expect(what);
        let (change, p) = (of("change"), of("p").parse::<f64>().unwrap());
        let ours = match row.verdict {
            Verdict::Worse => "+",
            Verdict::Better => "-",
            _ => "~",
        };
        if p < 0.01 {
            sure += 1;
            assert!(change.starts_with(ours), "{name}: benchstat {change} (p = {p}), ours {:?}", row.verdict);
        } else if p > 0.2 {
            nothing += 1;
            assert_eq!(ours, "~", "{name}: benchstat {change} (p = {p})");
        }
    }
    assert!(sure >= 5 && nothing >= 3, "{sure} sure, {nothing} nothing: the fixture tells little");
}
