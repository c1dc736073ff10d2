//! A history of a stated generator out into a dataset, asked by DuckDB and brought back; every answer is known beforehand
//! (docs/datasets.md). `scripts/prove datasets [--quick] [-- --records N]`; exit code 1 where a target is missed.
//!
//! The generator multiplies a published record of `iozone` with twenty figures: six models, parts of them that differ by 2 %, a
//! result a day and part with a scatter of 1 %. Planted are one slow part, one model that loses a tenth halfway, parts that nobody
//! measured lately, and one result at half of what its part does else.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_model::{DeviceKind, Identity};
use flashscope_record::AnyRecord;
use flashscope_stats::Rng;
use flashscope_stats::location::{self, standard_deviation};
use flashscope_store::{Access, Dataset, Filter, Store, import};
use flashscope_testkit::Targets;
use flashscope_units::{Bytes, Nanos};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RECORD: &str = include_str!("../../../fixtures/records/v1/iozone.json");
/// A record that knows its device.
const DEVICE: &str = include_str!("../../../fixtures/records/v1/bench-virtual.json");
/// What a record of today says that it is.
const SCHEMA: &str = "flashscope.record/2";
/// The pass that most questions are about: what it does, and KiB of its file and of a record.
const PASS: &str = "Write 256 64";
const MODELS: usize = 6;
/// Speeds of the models beside the fixture.
const SPEEDS: [f64; MODELS] = [1.0, 1.15, 0.8, 1.3, 0.95, 1.05];
/// A record's figures.
const FIGURES: usize = 20;
/// Records that go in together.
const BATCH: usize = 2000;
/// What the sixth question asks for, in bytes per second.
const LIMIT: f64 = 1e9;

/// One result of the generator.
#[derive(Clone, Copy, Debug)]
struct One {
    model: usize,
    part: usize,
    day: usize,
    /// Of [`PASS`], in bytes per second.
    value: f64,
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let quick = words.iter().any(|word| word == "--quick");
    let wanted = words.iter().skip_while(|word| *word != "--records").nth(1).map(|text| text.parse()).transpose()?;
    let records: usize = wanted.unwrap_or(if quick { 960 } else { 500_000 });
    let parts = if records < 50_000 { 4 } else { 100 };
    let place = Place::new()?;
    let mut targets = Targets::begin(io::stdout())?;
    let all = filled(&place, records.div_ceil(MODELS * parts), parts)?;
    let store = Store::open(&place.0.join("history.db"), Access::Read)?;
    let began = Phase::begin();
    let done = Dataset::open(&place.0.join("results"))?.export(&store, &Filter::default(), &mut |_, _| {})?;
    println!("  {} records, {} figures out in {}", done.new, done.figures, began.told());
    println!("  {:.0} MiB of history, {:.0} MiB of dataset", place.mebibytes("history.db"), place.mebibytes("results"));
    let rows = (done.new, done.figures) == (all.len() as u64, (all.len() * FIGURES) as u64);
    targets.row("records and figures in the dataset", "all", &format!("{}, {}", done.new, done.figures), rows)?;
    let again = Dataset::open(&place.0.join("results"))?.export(&store, &Filter::default(), &mut |_, _| {})?;
    targets.at_most("records added by the same export again", 0.0, again.new as f64, "")?;
    let mut names: Vec<String> = store.figures()?.into_iter().map(|figure| figure.metric.name).collect();
    names.sort();
    asked(&place.0.join("results"), &all, &names, quick, &mut targets)?;
    let mut other = Store::open(&place.0.join("other.db"), Access::Write)?;
    let began = Phase::begin();
    let back = import(&mut other, &place.0.join("results"), &mut |_, _| {})?;
    println!("  back in {}", began.told());
    let sample = (0..100).map(|n| all[n * (all.len() - 1) / 99]);
    let same = sample.map(|one| Ok(text(&store, one)? == text(&other, one)?)).collect::<Result<Vec<bool>>>()?;
    let same = same.into_iter().filter(|same| *same).count();
    targets.at_least("records back", all.len() as f64, back.new as f64, "")?;
    targets.at_least("of 100 records, the same byte for byte", 100.0, same as f64, "")?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The text of the record of a result.
fn text(store: &Store, one: One) -> Result<String> {
    let since = store.time(&date(one.day))?;
    let target = Some(part(one.model, one.part));
    let found =
        store.list(&Filter { target, since: Some(since), before: Some(since + 86_400), ..Filter::default() })?;
    let [entry] = &found[..] else { return Err(format!("{} records of one result", found.len()).into()) };
    Ok(store.record(entry.id)?)
}

/// What a model and a part are called.
fn model(number: usize) -> String {
    format!("MODEL-{number}")
}

fn part(model: usize, part: usize) -> String {
    format!("part-{model}-{part}")
}

/// The day of this number from the first of 2026 on.
fn date(day: usize) -> String {
    const MONTHS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = |year: usize| year.is_multiple_of(4) && !year.is_multiple_of(100);
    let (mut year, mut month, mut rest) = (2026, 0, day);
    loop {
        let days = MONTHS[month] + usize::from(month == 1 && is_leap(year));
        if rest < days {
            return format!("{year}-{:02}-{:02}", month + 1, rest + 1);
        }
        rest -= days;
        month += 1;
        if month == 12 {
            (year, month) = (year + 1, 0);
        }
    }
}

/// A folder that goes with the bench.
struct Place(PathBuf);

impl Place {
    fn new() -> Result<Place> {
        let place = std::env::temp_dir().join(format!("flashscope-bench-datasets-{}", std::process::id()));
        std::fs::create_dir(&place)?;
        Ok(Place(place))
    }
}

impl Place {
    /// What a file, or all below a folder, takes of the disk.
    fn mebibytes(&self, name: &str) -> f64 {
        fn below(path: &Path) -> u64 {
            let Ok(found) = std::fs::metadata(path) else { return 0 };
            match std::fs::read_dir(path) {
                Ok(inner) => inner.flatten().map(|one| below(&one.path())).sum(),
                Err(_) => found.blocks() * 512,
            }
        }
        below(&self.0.join(name)) as f64 / f64::from(1 << 20)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What something takes: time on the clock and of this process, and the most memory meanwhile.
struct Phase {
    began: Instant,
    worked: f64,
}

impl Phase {
    fn begin() -> Phase {
        // From now on the kernel counts the peak anew.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Phase { began: Instant::now(), worked: worked() }
    }

    fn told(&self) -> String {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let peak = peak.and_then(|text| text.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib / 1024.0);
        let (took, worked) = (self.began.elapsed().as_secs_f64(), worked() - self.worked);
        format!("{took:.1} s ({worked:.1} s of a processor, {peak:.0} MiB at most)")
    }
}

/// Processor time of this process in seconds.
fn worked() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // User and system time (fields 14 and 15 of proc(5)), in hundredths on every Linux that this runs on.
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// How fast a part is on a day beside the fixture, scatter apart.
fn speed(model: usize, part: usize, day: usize, days: usize) -> f64 {
    let own = 1.0 + 0.02 * normal(&mut Rng::new((model * 1000 + part) as u64));
    let slow = if (model, part) == (3, 2) { 0.6 } else { 1.0 };
    let lost = if model == 4 && day >= days / 2 { 0.9 } else { 1.0 };
    SPEEDS[model] * own * slow * lost
}

/// Of mean 0 and deviation 1, by twelve uniform ones.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Fills a history; says what is in it.
fn filled(place: &Place, days: usize, parts: usize) -> Result<Vec<One>> {
    let AnyRecord::Bench(bench) = flashscope_record::read(DEVICE)? else { return Err("another kind".into()) };
    let AnyRecord::Iozone(base) = flashscope_record::read(RECORD)? else { return Err("another kind".into()) };
    let mut store = Store::open(&place.0.join("history.db"), Access::Write)?;
    let (mut all, mut texts) = (Vec::new(), Vec::new());
    let mut rng = Rng::new(21_004);
    let began = Phase::begin();
    for (day, model) in (0..days).flat_map(|day| (0..MODELS).map(move |model| (day, model))) {
        for part in 0..parts {
            // Every fourth part of one model was given away before the last ten days.
            if model == 5 && part % 4 == 0 && day + 10 >= days {
                continue;
            }
            let odd = if (model, part, day) == (1, 1, 5) { 0.5 } else { 1.0 };
            let speed = speed(model, part, day, days) * odd * (1.0 + 0.01 * normal(&mut rng));
            let mut record = base.clone();
            let mut device = bench.envelope.device.clone().ok_or("no device")?;
            (device.name, device.kind) = (self::model(model), DeviceKind::SdCard);
            device.identity = Some(Identity(self::part(model, part)));
            record.envelope.device = Some(device);
            record.envelope.started = Some(format!("{}T06:00:00Z", date(day)));
            let mut value = 0.0;
            for pass in &mut record.passes {
                // A thousand times the time: a nanosecond is then no part of the scatter.
                pass.elapsed = Nanos((pass.elapsed.0 as f64 / speed * 1000.0).round() as u64);
                pass.moved = Bytes(pass.moved.0 * 1000);
                if format!("{:?} {} {}", pass.figure, pass.file.0 >> 10, pass.record.0 >> 10) == PASS {
                    value = pass.moved.0 as f64 / (pass.elapsed.0 as f64 / 1e9);
                }
            }
            texts.push(flashscope_record::any_to_json(&AnyRecord::Iozone(record)));
            all.push(One { model, part, day, value });
            if texts.len() == BATCH {
                store.add(&std::mem::take(&mut texts))?;
            }
        }
    }
    store.add(&texts)?;
    println!("  {} records kept in {}", all.len(), began.told());
    Ok(all)
}

/// A row of an answer: texts as they are, numbers to be equal but for rounding.
#[derive(Debug, PartialEq)]
enum Cell {
    Text(String),
    Number(f64),
    /// What nobody here knows.
    Any,
}

impl Cell {
    fn is(&self, value: &Value) -> bool {
        match self {
            Cell::Any => !value.is_null(),
            Cell::Text(text) => {
                value.as_str().is_some_and(|value| value == text || value.starts_with(&format!("{text} ")))
            }
            Cell::Number(number) => {
                value.as_f64().is_some_and(|value| (value - number).abs() <= 1e-6 * number.abs().max(1e-6))
            }
        }
    }
}

/// Has DuckDB answer every question of the page, and holds the answers against those worked out here.
fn asked(dataset: &Path, all: &[One], names: &[String], quick: bool, targets: &mut Targets<io::Stdout>) -> Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/duckdb");
    let output = Command::new(script).arg(dataset).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some(why) = said.lines().find_map(|line| line.strip_prefix("LEFT OUT: ")) {
        println!("LEFT OUT: {why}");
        targets.left_out("answers of DuckDB", why)?;
        return Ok(());
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let said: Value = serde_json::from_str(&said)?;
    println!("  DuckDB {} on {} rows", said["version"].as_str().unwrap_or("?"), said["rows"]);
    let answers = said["answers"].as_array().ok_or("no answers")?;
    let expected = expected(all, names);
    targets.at_least("questions of the page", expected.len() as f64, answers.len() as f64, "")?;
    for (number, (answer, rows)) in answers.iter().zip(&expected).enumerate() {
        let found = answer["rows"].as_array().ok_or("no rows")?;
        // Where a question has no order of its own beyond its key, the page says one; rows are compared in that order.
        let is_same = |(found, row): (&Value, &Vec<Cell>)| {
            let found = found.as_array().map(Vec::as_slice).unwrap_or_default();
            found.len() == row.len() && row.iter().zip(found).all(|(cell, value)| cell.is(value))
        };
        let right = found.len() == rows.len() && found.iter().zip(rows).all(is_same);
        if !right {
            println!("  found {}\n  known {rows:?}", answer["rows"]);
        }
        let took = answer["ms"].as_f64().unwrap_or(f64::NAN);
        let peak = answer["mib"].as_f64().unwrap_or(f64::NAN);
        let took = if quick { String::new() } else { format!(" in {took:.0} ms, {peak:.0} MiB") };
        let words = format!("{} rows{took}", found.len());
        targets.row(&format!("question {}", number + 1), "as known", &words, right)?;
    }
    Ok(())
}

/// The answers, from the generator's own numbers.
fn expected(all: &[One], names: &[String]) -> Vec<Vec<Vec<Cell>>> {
    let mut of_model: BTreeMap<usize, Vec<One>> = BTreeMap::new();
    let mut of_part: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for one in all {
        of_model.entry(one.model).or_default().push(*one);
        of_part.entry((one.model, one.part)).or_default().push(one.value);
    }
    let middle: BTreeMap<(usize, usize), f64> = of_part.iter().map(|(part, values)| (*part, median(values))).collect();
    let values = |ones: &[One]| -> Vec<f64> { ones.iter().map(|one| one.value).collect() };
    let medians: Vec<f64> = of_model.values().map(|ones| median(&values(ones))).collect();
    let parts_of = |model: usize| middle.iter().filter(move |((of, _), _)| *of == model);
    vec![
        of_model.iter().map(|(number, ones)| inventory(*number, ones)).collect(),
        typical(&of_model, &values),
        slow(&middle, &|number| median(&parts_of(number).map(|(_, value)| *value).collect::<Vec<_>>())),
        of_model.keys().map(|number| differences(*number, &of_part)).collect(),
        months(&of_model),
        of_model
            .keys()
            .map(|number| misses(*number, &parts_of(*number).map(|(_, value)| *value).collect::<Vec<_>>()))
            .collect(),
        names.iter().map(|name| vec![Cell::Text(name.clone()), Cell::Number(medians[2] / medians[1])]).collect(),
        forgotten(all),
        odd(all, &of_part),
        vec![vec![Cell::Text("0.1.0".to_owned()), Cell::Text(SCHEMA.to_owned()), Cell::Number(all.len() as f64)]],
    ]
}

/// Of values that there are.
fn median(values: &[f64]) -> f64 {
    location::median(values).unwrap_or(f64::NAN)
}

/// 1: records, parts, first and last day.
fn inventory(number: usize, ones: &[One]) -> Vec<Cell> {
    let parts: BTreeSet<usize> = ones.iter().map(|one| one.part).collect();
    let days = || ones.iter().map(|one| one.day);
    let day = |day: Option<usize>| Cell::Text(date(day.unwrap_or_default()));
    let (first, last) = (day(days().min()), day(days().max()));
    vec![Cell::Text(model(number)), Cell::Number(ones.len() as f64), Cell::Number(parts.len() as f64), first, last]
}

/// 2: the median and the quantiles beside it, the fastest model first.
fn typical(of_model: &BTreeMap<usize, Vec<One>>, values: &dyn Fn(&[One]) -> Vec<f64>) -> Vec<Vec<Cell>> {
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    for (number, ones) in of_model {
        let mut sorted = values(ones);
        sorted.sort_by(f64::total_cmp);
        let [typical, low, high] = [0.5, 0.05, 0.95].map(|share| between(&sorted, share));
        rows.push((
            typical,
            vec![Cell::Text(model(*number)), Cell::Number(typical), Cell::Number(low), Cell::Number(high)],
        ));
    }
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Quantile with a straight line between the two values beside it (type 7 of Hyndman and Fan, "Sample quantiles in statistical
/// packages", The American Statistician 50, 1996), as DuckDB's `quantile_cont` has it.
fn between(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * (at - at.floor())
}

/// 3: the ten parts that are slowest for their model.
fn slow(middle: &BTreeMap<(usize, usize), f64>, of_model: &dyn Fn(usize) -> f64) -> Vec<Vec<Cell>> {
    let models: Vec<f64> = (0..MODELS).map(of_model).collect();
    let mut all: Vec<((usize, usize), f64)> = middle.iter().map(|(at, value)| (*at, value / models[at.0])).collect();
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    let row = |((number, own), share): ((usize, usize), f64)| {
        vec![Cell::Text(model(number)), Cell::Text(part(number, own)), Cell::Number(share)]
    };
    all.into_iter().take(10).map(row).collect()
}

/// 4: deviations between and within parts.
fn differences(number: usize, of_part: &BTreeMap<(usize, usize), Vec<f64>>) -> Vec<Cell> {
    let logs: Vec<Vec<f64>> = of_part
        .iter()
        .filter(|((of, _), _)| *of == number)
        .map(|(_, values)| values.iter().map(|value| value.ln()).collect())
        .collect();
    let means: Vec<f64> = logs.iter().map(|logs| logs.iter().sum::<f64>() / logs.len() as f64).collect();
    let within = logs.iter().map(|logs| standard_deviation(logs).unwrap_or_default().powi(2)).sum::<f64>();
    let between = standard_deviation(&means).unwrap_or_default();
    vec![Cell::Text(model(number)), Cell::Number(between), Cell::Number((within / logs.len() as f64).sqrt())]
}

/// 5: the median of each month.
fn months(of_model: &BTreeMap<usize, Vec<One>>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (number, ones) in of_model {
        let mut months: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        ones.iter().for_each(|one| months.entry(format!("{}-01", &date(one.day)[..7])).or_default().push(one.value));
        rows.extend(
            months.into_iter().map(|(month, values)| {
                vec![Cell::Text(model(*number)), Cell::Text(month), Cell::Number(median(&values))]
            }),
        );
    }
    rows
}

/// 6: the parts below the limit, with Wilson's interval ("Probable inference", JASA 22, 1927).
fn misses(number: usize, parts: &[f64]) -> Vec<Cell> {
    let (all, z) = (parts.len() as f64, 1.96);
    let missed = parts.iter().filter(|value| **value < LIMIT).count() as f64;
    let (middle, half) = (missed + z * z / 2.0, z * (missed * (all - missed) / all + z * z / 4.0).sqrt());
    let [least, most] = [middle - half, middle + half].map(|bound| Cell::Number(bound / (all + z * z)));
    vec![Cell::Text(model(number)), Cell::Number(missed), Cell::Number(all), least, most]
}

/// 8: parts whose last result is more than a week before the last of all.
fn forgotten(all: &[One]) -> Vec<Vec<Cell>> {
    let mut last: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    all.iter().for_each(|one| _ = last.insert((one.model, one.part), one.day));
    let newest = last.values().max().copied().unwrap_or_default();
    let old = last.into_iter().filter(|(_, day)| day + 7 < newest);
    let mut rows: Vec<(usize, String, usize)> = old.map(|((model, own), day)| (day, part(model, own), model)).collect();
    rows.sort();
    let row = |(day, part, number)| vec![Cell::Text(model(number)), Cell::Text(part), Cell::Text(date(day))];
    rows.into_iter().map(row).collect()
}

/// 9: results that lie far from what their part does else; which record that is, the page's query says and nobody here knows.
fn odd(all: &[One], of_part: &BTreeMap<(usize, usize), Vec<f64>>) -> Vec<Vec<Cell>> {
    let usual = |values: &Vec<f64>| {
        let typical = median(values);
        let off: Vec<f64> = values.iter().map(|value| (value - typical).abs()).collect();
        (typical, 1.4826 * median(&off))
    };
    let usual: BTreeMap<(usize, usize), (f64, f64)> = of_part.iter().map(|(part, all)| (*part, usual(all))).collect();
    let mut rows: Vec<(f64, String)> = Vec::new();
    for one in all {
        let (typical, sigma) = usual[&(one.model, one.part)];
        if (one.value - typical).abs() > 6.0 * sigma {
            rows.push((one.value / typical, part(one.model, one.part)));
        }
    }
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    rows.into_iter().map(|(share, part)| vec![Cell::Any, Cell::Text(part), Cell::Number(share)]).collect()
}
