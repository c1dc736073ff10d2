//! Every number of every model, replaced by extremes one at a time: the model is refused with the key's name, or works. It
//! never panics, never takes memory or time beyond all measure.

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_sim::{SimTarget, catalogue, open_with, show};
use flashscope_units::{Bytes, Nanos};
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// Keys of a fault section that stand for absence unless they hold a number, with a number for each.
const FAULTS: &str = r#"
fake = "chain"
real_capacity = "1GiB"
wrap = "2GiB"
beyond = "garbage"
damaged = "0.01+64MiB-65MiB"
slow = "0.01"
failing = "0.01"
hanging = "0.01"
vanish_after = "700"
vanish_at = "1h"
reset_after = "20"
reset_at = "1s"
power_cut_after = "80"
power_cut_at = "1min"
write_cache = "4MiB"
drain_after = "500ms"
torn = true
reordered = true
lost = 0.1
misdirected = 0.1
"#;

/// A device may take so much memory, and the whole test not much more.
const MOST_MEMORY: usize = 2 << 30;
/// One edit takes milliseconds; what is still at work after this will not end.
const MOST_TIME: Duration = Duration::from_secs(120);

fn models() -> Vec<(String, Table)> {
    let parse = |text: &str| -> Table { text.parse().expect("a model of the catalogue") };
    let mut models: Vec<_> = catalogue().iter().map(|entry| (entry.name.to_owned(), parse(entry.toml))).collect();
    for (name, file) in [("sd-4mib", "faulty card"), ("ssd-consumer", "faulty drive")] {
        let mut section = parse(include_str!("../src/fault/defaults.toml"));
        section.extend(parse(FAULTS));
        let entry = catalogue().into_iter().find(|entry| entry.name == name).expect("it is in the catalogue");
        let mut table = parse(entry.toml);
        table.insert("fault".to_owned(), Value::Table(section));
        models.push((file.to_owned(), table));
    }
    models.push(("drive with a map cache".to_owned(), with_map_cache()));
    models
}

fn with_map_cache() -> Table {
    let entry = catalogue().into_iter().find(|entry| entry.name == "ssd-consumer").expect("it is in the catalogue");
    let mut table: Table = entry.toml.parse().expect("a model of the catalogue");
    let cache: Table = "reach = \"1GiB\"\npage = \"16KiB\"".parse().expect("a section");
    let mapping = table["mapping"].as_table_mut().expect("a section");
    mapping.insert("map_cache".to_owned(), Value::Table(cache));
    mapping.insert("slc".to_owned(), Value::Table("kind = \"static\"\nsuperblocks = 4".parse().expect("a section")));
    table
}

/// The paths of all numbers, with or without a unit, below a value.
fn numbers(path: &[String], value: &Value, into: &mut Vec<Vec<String>>) {
    let mut inner = |step: String, value: &Value| numbers(&[path, &[step]].concat(), value, into);
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| inner(key.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| inner(at.to_string(), value)),
        Value::Integer(_) | Value::Float(_) => into.push(path.to_vec()),
        Value::String(text) if text.starts_with(|first: char| first.is_ascii_digit()) => into.push(path.to_vec()),
        _ => {}
    }
}

fn place<'t>(table: &'t mut Table, path: &[String]) -> &'t mut Value {
    let mut place = table.get_mut(&path[0]).expect("the path was found in the table");
    for step in &path[1..] {
        place = match place {
            Value::Table(inner) => inner.get_mut(step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().expect("the number of an item")),
            _ => None,
        }
        .expect("the path was found in the table");
    }
    place
}

fn extremes(value: &Value) -> Vec<Value> {
    let texts = |texts: &[&str]| texts.iter().map(|text| Value::String((*text).to_owned())).collect();
    match value {
        Value::Integer(_) => {
            [0, 1, 2, 3, 255, 256, 65_536, 1 << 20, (1 << 31) - 1, 4_294_967_295, 1 << 53, i64::MAX, -1, i64::MIN]
                .map(Value::Integer)
                .to_vec()
        }
        Value::Float(_) => [0.0, -0.0, 1e-300, 0.5, 1.0, 2.0, 1e3, 1e12, 1e300, -1.0, f64::NAN, f64::INFINITY]
            .map(Value::Float)
            .to_vec(),
        Value::String(text) if text.parse::<Nanos>().is_ok() => {
            texts(&["0ns", "1ns", "1us", "1s", "60s", "1h", "24h", "2400h", "100000h", "2500000h", "1e5h", "-1s"])
        }
        Value::String(text) if text.parse::<Bytes>().is_ok() => texts(&[
            "0",
            "1",
            "511",
            "512",
            "513",
            "4KiB",
            "48KiB",
            "1MiB",
            "3MiB",
            "1GiB",
            "1024GiB",
            "64TiB",
            "65TiB",
            "2048TiB",
            "8192TiB",
            "18446744073709551615",
            "-1",
        ]),
        // Places of faults, and numbers of requests.
        _ => texts(&["0", "1", "0.5", "1e-300", "1e300", "NaN", "0-8192TiB", "0-512+1", "9223372036854775807", "-1"]),
    }
}

/// What a quiet, a busy and a careless host would do, more than a hundred requests long.
fn use_it(target: &mut SimTarget) {
    let facts = target.facts().clone();
    let Some(mut grant) = WriteGrant::simulated(&facts, Bytes::gib(1)) else { return };
    let block = facts.logical_block;
    let spots = [0, 1, 3].map(|eighths| (facts.capacity / 8 * eighths).align_down(block));
    let spots = [spots[0], spots[1], spots[2], facts.capacity.saturating_sub(Bytes::mib(1)).align_down(block)];
    let end = |at: Bytes, length: Bytes| length.align_up(block).min(facts.capacity - at);
    for round in 0..12_u64 {
        for (number, spot) in (0..).zip(spots) {
            let at = (spot + block * (round * 37 % 64 * 8)).min(facts.capacity - block);
            let length = end(at, Bytes(512 << (round % 12)));
            let fill = Fill::Tagged { generation: 1 };
            let writes = Request::write(&mut grant, 0, at, length, fill, round % 5 == 0);
            let last = match (round + number) % 11 {
                0 => Some(Request::flush(2)),
                1 => Request::discard(&mut grant, 2, at, length).ok(),
                _ => None,
            };
            for request in writes.into_iter().chain([Request::read(1, at, length)]).chain(last) {
                // A faulty device may go away.
                if target.execute(request).is_err() {
                    return;
                }
            }
        }
        let rest = [Nanos::millis(3), Nanos::secs(5), Nanos::ZERO][(round % 3) as usize];
        target.wait_until(target.now() + rest);
    }
}

/// One model: refused for one of its keys, or opened and used. Says what is wrong with how that went.
fn attempt(text: &str, keys: &[String]) -> Result<(), String> {
    let read = |_: &str| Ok(text.to_owned());
    match open_with("edited.toml", 1, read) {
        Err(error) => {
            let error = error.to_string();
            // What is wrong with an item of a list may be blamed on the list.
            let named = keys.iter().any(|key| error.contains(key) || error.contains(&key.replace(".0", "")));
            if named { Ok(()) } else { Err(format!("names no key: {error}")) }
        }
        Ok(mut target) => {
            if target.state_bytes() > MOST_MEMORY {
                return Err(format!("takes {}", Bytes(target.state_bytes() as u64)));
            }
            // Invariants are what other tests look at.
            target.check_always(false);
            use_it(&mut target);
            show("edited.toml", true, read).map(|_| ()).map_err(|error| error.to_string())
        }
    }
}

#[test]
fn no_single_edit_of_a_model_file_panics_hangs_or_takes_all_memory() {
    static AT_WORK: Mutex<Option<(Instant, String)>> = Mutex::new(None);
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let late = AT_WORK.lock().unwrap().clone().filter(|(since, _)| since.elapsed() > MOST_TIME);
            if let Some((_, what)) = late {
                // Nothing else ends a test that does not come back.
                let _ = writeln!(std::io::stderr(), "{what} hangs");
                std::process::exit(1);
            }
        }
    });
    let (mut tried, mut worked, mut wrong) = (0, 0, String::new());
    for (name, table) in models() {
        let mut paths = Vec::new();
        numbers(&[], &Value::Table(table.clone()), &mut paths);
        let keys: Vec<String> = paths.iter().map(|path| path.join(".")).collect();
        for path in &paths {
            for extreme in extremes(place(&mut table.clone(), path)) {
                let mut edited = table.clone();
                let key = path.join(".");
                let what = format!("{name}: {key} = {extreme}");
                *place(&mut edited, path) = extreme;
                let text = toml::to_string(&edited).expect("a table is text again");
                *AT_WORK.lock().unwrap() = Some((Instant::now(), what.clone()));
                let result = catch_unwind(AssertUnwindSafe(|| attempt(&text, &keys)));
                tried += 1;
                match result {
                    Ok(Ok(())) => worked += 1,
                    Ok(Err(why)) => writeln!(wrong, "{what}: {why}").expect("a string takes all"),
                    Err(_) => writeln!(wrong, "{what}: panics").expect("a string takes all"),
                }
            }
        }
    }
    *AT_WORK.lock().unwrap() = None;
    assert!(wrong.is_empty(), "{} of {tried} edits went wrong:\n{wrong}", tried - worked);
}
