//! Verdicts on runs that were done, beside an independent computation and beside what must be refused.

use flashscope_experiment::table::{Decimal, Group, Reader, put_first};
use flashscope_experiment::{Settings, compare};
use flashscope_model::comparison::{Compared, Comparison, Doubt, Family, Level, Verdict};
use std::path::Path;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

fn read(text: &str) -> Group {
    let mut groups = Reader::default().read(text).unwrap();
    assert_eq!(groups.len(), 1);
    groups.remove(0)
}

fn compared(text: &str) -> Comparison {
    compare(&read(text).readings, &Settings::default())
}

fn only(comparison: &Comparison) -> &Compared {
    assert_eq!(comparison.rows.len(), 1, "{comparison:?}");
    &comparison.rows[0]
}

/// A table of runs, one metric, in MB/s: label and value.
fn runs(rows: &[(&str, f64)]) -> String {
    let rows = rows.iter().map(|(label, value)| format!("{label},write,MB/s,{value}\n"));
    format!("label,metric,unit,value\n{}", rows.collect::<String>())
}

#[test]
fn the_published_table_gives_what_scipy_gives() {
    let reader = Reader { runs: Some(3), ..Reader::default() };
    let groups = reader.read(&fixture("androbench-conditions.csv")).unwrap();
    assert_eq!(
        groups.iter().map(|group| group.factor.as_deref().unwrap()).collect::<Vec<_>>(),
        ["governor", "read_ahead_kb"]
    );
    let text = fixture("comparisons/welch.json");
    let wanted: Vec<std::collections::BTreeMap<&str, &str>> = text
        .split('{')
        .skip(1)
        .map(|row| {
            let fields = row.split('}').next().unwrap().split(",\n");
            fields
                .map(|field| field.split_once(':').unwrap())
                .map(|(key, value)| (key.trim().trim_matches('"'), value.trim().trim_matches('"')))
                .collect()
        })
        .collect();
    assert_eq!(wanted.len(), 49);
    let mut seen = 0;
    let mut differing = Vec::new();
    for group in &groups {
        let comparison = compare(&group.readings, &Settings::default());
        for row in &comparison.rows {
            let metric = &group.readings.metrics[row.metric];
            let name = format!("{}_{}", metric.name.replace(' ', "_"), metric.unit);
            let level = group.readings.sides[row.side].as_str();
            let wanted = wanted
                .iter()
                .find(|row| {
                    row["factor"] == group.factor.as_deref().unwrap() && row["level"] == level && row["metric"] == name
                })
                .unwrap_or_else(|| panic!("{level} {name}"));
            let near = |got: f64, key: &str| {
                let wanted: f64 = wanted[key].parse().unwrap();
                assert!(
                    (got - wanted).abs() <= 1e-6 * wanted.abs().max(1e-3),
                    "{level} {name} {key}: {got}, scipy {wanted}"
                );
            };
            let ratio = row.ratio.unwrap();
            near(ratio.value, "ratio");
            near(ratio.interval.unwrap().0, "low");
            near(ratio.interval.unwrap().1, "high");
            near(row.p_difference.unwrap(), "holm");
            assert!(row.least_ratio.unwrap() > 1.0);
            seen += 1;
            match row.verdict {
                Verdict::Worse => differing.push((level.to_owned(), metric.name.clone())),
                Verdict::CannotTell(Doubt::Open { .. }) => {}
                other => panic!("{level} {name}: {other:?}"),
            }
        }
    }
    assert_eq!(seen, 49);
    // Three runs decide four of 49 questions, all on one governor.
    let wanted = ["rand write", "sqlite insert", "sqlite update", "sqlite delete"];
    assert_eq!(differing, wanted.map(|metric| ("intellidemand".to_owned(), metric.to_owned())));
}

#[test]
fn verdicts_of_runs() {
    let far = compared(&runs(&[
        ("a", 20.0),
        ("a", 20.3),
        ("a", 19.8),
        ("a", 20.1),
        ("b", 17.0),
        ("b", 17.2),
        ("b", 16.9),
        ("b", 17.1),
    ]));
    assert_eq!(only(&far).verdict, Verdict::Worse);
    assert_eq!(only(&far).level, Some(Level::Run));
    let near = compared(&runs(&[
        ("a", 20.0),
        ("a", 20.3),
        ("a", 19.8),
        ("a", 20.1),
        ("b", 20.1),
        ("b", 19.9),
        ("b", 20.2),
        ("b", 20.0),
    ]));
    assert_eq!(only(&near).verdict, Verdict::Equivalent);
    let open = compared(&runs(&[("a", 20.0), ("a", 23.0), ("a", 18.0), ("b", 21.0), ("b", 17.0), ("b", 24.0)]));
    let Verdict::CannotTell(Doubt::Open { more: Some(more) }) = only(&open).verdict else { panic!("{open:?}") };
    assert!(more > 3, "{more}");
}

#[test]
fn lower_times_are_better() {
    let text = "label,metric,unit,value\n".to_owned()
        + &[("a", [10.0, 10.1, 9.9, 10.0]), ("b", [8.0, 8.1, 7.9, 8.0])]
            .iter()
            .flat_map(|(label, values)| values.iter().map(move |value| format!("{label},p99,ms,{value}\n")))
            .collect::<String>();
    assert_eq!(only(&compared(&text)).verdict, Verdict::Better);
}

#[test]
fn what_cannot_be_told_says_why() {
    let of = |rows: &[(&str, f64)]| only(&compared(&runs(rows))).verdict;
    assert_eq!(of(&[("a", 1.0), ("b", 2.0)]), Verdict::CannotTell(Doubt::TooFew));
    assert_eq!(of(&[("a", 1.0), ("a", 1.0), ("b", 2.0), ("b", 2.0)]), Verdict::CannotTell(Doubt::NoScatter));
    assert_eq!(of(&[("a", 0.0), ("a", 1.0), ("b", 2.0), ("b", 2.1)]), Verdict::CannotTell(Doubt::NotPositive));
    let missing = compared("label,metric,unit,value\na,read,MB/s,1\na,read,MB/s,2\nb,write,MB/s,1\nb,write,MB/s,2\n");
    assert!(missing.rows.iter().all(|row| row.verdict == Verdict::CannotTell(Doubt::Missing)));
    // What cannot be tested is no member of the family.
    assert_eq!(missing.comparisons, 0);
    // One run each still has a ratio, without an interval.
    let one = compared(&runs(&[("a", 1.0), ("b", 2.0)]));
    assert_eq!(only(&one).ratio.map(|ratio| (ratio.value, ratio.interval)), Some((2.0, None)));
}

#[test]
fn an_interval_covers_the_level_that_was_repeated() {
    // Blocks: both sides share a session that moves by far more than they differ.
    let blocked: String = [1.0, 1.4, 0.7, 1.2, 0.9, 1.1]
        .iter()
        .enumerate()
        .map(|(block, session)| {
            let (a, b) = (20.0 * session * (1.0 + 0.001 * block as f64), 21.6 * session);
            format!("a,w,MB/s,{a},,s{block},{block}\nb,w,MB/s,{b},,s{block},{block}\n")
        })
        .collect();
    let comparison = compared(&format!("label,metric,unit,value,part,session,block\n{blocked}"));
    let row = only(&comparison);
    assert_eq!((row.level, row.verdict), (Some(Level::Block), Verdict::Better));
    assert_eq!(row.baseline.unwrap().counts.blocks, 6);
    // The same without blocks: the scatter of sessions hides it.
    let unblocked = blocked.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect::<String>();
    let comparison = compared(&format!("label,metric,unit,value,part,session\n{unblocked}"));
    let row = only(&comparison);
    assert_eq!(row.level, Some(Level::Session));
    assert!(matches!(row.verdict, Verdict::CannotTell(Doubt::Open { .. })));
    // Many runs of three parts each: the scatter is that of the parts, not of the runs.
    let parts: String = ["a", "b"]
        .iter()
        .flat_map(|side| {
            (0..3).flat_map(move |part| {
                (0..20).map(move |run| {
                    let value =
                        20.0 + f64::from(part) * 2.0 + 0.01 * f64::from(run) + if *side == "b" { 0.5 } else { 0.0 };
                    format!("{side},w,MB/s,{value},p{part},s,\n")
                })
            })
        })
        .collect();
    let comparison = compared(&format!("label,metric,unit,value,part,session,block\n{parts}"));
    assert_eq!(only(&comparison).level, Some(Level::Part));
    assert!(matches!(only(&comparison).verdict, Verdict::CannotTell(Doubt::Open { .. })));
}

#[test]
fn a_family_keeps_its_error_rate() {
    // Ten figures, of which one seems to differ at 4 %: by itself a verdict, within the family none.
    let row = |metric: usize, label: &str, values: [f64; 4]| -> String {
        values.iter().map(|value| format!("{label},m{metric},MB/s,{value}\n")).collect()
    };
    let mut text = "label,metric,unit,value\n".to_owned();
    for metric in 0..10 {
        text += &row(metric, "a", [20.0, 21.0, 19.0, 20.0]);
        text += &row(metric, "b", if metric == 3 { [21.0, 22.3, 21.2, 22.0] } else { [20.3, 21.0, 18.9, 20.1] });
    }
    let readings = read(&text).readings;
    let with = |family| compare(&readings, &Settings::new(0.95, 1.05, family).unwrap());
    let decided = |comparison: &Comparison| comparison.rows.iter().filter(|row| row.verdict == Verdict::Better).count();
    assert_eq!(decided(&with(Family::Each)), 1);
    let all = with(Family::All);
    assert_eq!((decided(&all), all.comparisons), (0, 10));
}

#[test]
fn numbers_are_read_in_one_way_only() {
    let value = |text: &str| read(text).readings.rows[0].value;
    assert_eq!(value("label;metric;unit;value\na;w;MB/s;1,5\nb;w;MB/s;2,25\n"), 1.5);
    assert_eq!(value("\u{feff}Label,Metric,Unit,Value\r\na,w,MB/s,1.5\r\nb,w,MB/s,2\r\n"), 1.5);
    assert_eq!(value("label\tmetric\tunit\tvalue\na\tw\tms\t3\nb\tw\tus\t2000\n"), 3.0);
    let both = read("label\tmetric\tunit\tvalue\na\tw\tms\t3\nb\tw\tus\t2000\n");
    assert_eq!(both.readings.rows[1].value, 2.0);
    let open = "label;metric;unit;value\na;w;MB/s;1,500\nb;w;MB/s;2,250\n";
    assert!(Reader::default().read(open).unwrap_err().to_string().contains("--decimal comma"));
    let comma = Reader { decimal: Some(Decimal::Comma), ..Reader::default() };
    assert_eq!(comma.read(open).unwrap()[0].readings.rows[0].value, 1.5);
}

#[test]
fn bad_tables_are_refused_with_the_line_and_what_to_do() {
    let refused = |text: &str, line: Option<u64>, words: &str| {
        let error = Reader::default().read(text).expect_err(text);
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("\nhint: "), "{error}");
    };
    refused("", None, "headings");
    refused("a,b,c\n1,2,3\n", None, "`value`, `mean` or `statistic`");
    refused("label,value\na,1\n", None, "`metric`");
    refused("label,metric,unit,value\n", None, "no rows");
    refused("label,metric,unit,value\na,w,MB/s,1\nb,w,MB/s,fast\n", Some(3), "`fast`");
    refused("label,metric,unit,value\na,w,MB/s,NaN\nb,w,MB/s,1\n", Some(2), "no measurement");
    refused("label,metric,unit,value\na,w,MB/s,\nb,w,MB/s,1\n", Some(2), "empty cell");
    refused("label;metric;unit;value\na;w;MB/s;1.234,5\nb;w;MB/s;1\n", Some(2), "thousands");
    refused("label,metric,unit,value\na,w,MB/s,1\nb,w,ms,1\n", Some(3), "`MB/s`");
    refused("label,metric,unit,value\na,score,,1\nb,score,,1\n", Some(2), "`better`");
    refused("label,metric,unit,value\na,w,MB/s\n", Some(2), "cells");
    refused("label,label,metric,value\na,a,w,1\n", None, "two columns");
    refused("label,metric,unit,mean,stdev\na,w,MB/s,1,0.1\nb,w,MB/s,1,0.1\n", Some(2), "--runs");
    refused("label,metric,unit,mean,stdev,n\na,w,MB/s,1,0.1,3\na,w,MB/s,1,0.1,3\n", Some(3), "second summary");
    refused("label,metric,unit,mean,stdev,n\na,w,MB/s,1,-0.1,3\nb,w,MB/s,1,0.1,3\n", Some(2), "standard deviation");
    refused("cond,statistic,w_MBps\nx,mean,1\nx,median,1\n", Some(3), "`median`");
}

#[test]
fn another_baseline_may_be_named() {
    let text = runs(&[("a", 20.0), ("a", 20.1), ("b", 10.0), ("b", 10.1), ("c", 30.0), ("c", 30.1)]);
    let mut readings = Reader::default().read(&text).unwrap().remove(0).readings;
    put_first(&mut readings, "b").unwrap();
    assert_eq!(readings.sides, ["b", "a", "c"]);
    let comparison = compare(&readings, &Settings::default());
    assert!((comparison.rows[0].ratio.unwrap().value - 1.995).abs() < 0.01, "{comparison:?}");
    let refused = put_first(&mut readings, "z").unwrap_err().to_string();
    assert!(refused.contains("`z`") && refused.contains("`b`, `a`, `c`"), "{refused}");
}
