//! What a page of a large history costs: the first, the last and a middle one, searches, devices and reports, from the request to
//! the last byte, over a socket. Exit code 1 where a target is missed; with `--quick` what is counted decides, and no clock.
//! A part of `scripts/prove serve`.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_store::{Access, Cursor, From, Search, Store};
use flashscope_testkit::Targets;
use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

/// A record of `bench` in virtual time: two runs of one job.
const RECORD: &str = include_str!("../../../fixtures/records/v1/bench-virtual.json");
/// A characterisation without its samples; a whole one is what `scripts/serve-test --times` opens in a browser.
const INSPECT: &str = include_str!("../../../fixtures/records/v1/inspect.json");
/// What the first run reached; each record of the history has a figure of its own there.
const FIGURE: &str = "596.501227641468";
/// Parts that take turns.
const PARTS: usize = 1000;
/// When the first of the copied records was measured, in seconds since 1970; each later one a minute later.
const BEGAN: i64 = 1_500_000_000;
/// Requests of a kind; the slowest counts, as it is any row that is to be shown.
const ASKED: usize = 20;
/// Reports that are asked for, of records all over the history.
const REPORTS: usize = 200;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let quick = words.iter().any(|word| word == "--quick");
    let told = words.iter().skip_while(|word| *word != "--records").nth(1);
    let count = told.map_or(Ok(if quick { 2000 } else { 1_000_000 }), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("flashscope-bench-serve-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = measure(&folder, count, quick);
    let _ = std::fs::remove_dir_all(&folder);
    Ok(if result? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(folder: &Path, count: usize, quick: bool) -> Result<bool, Box<dyn Error>> {
    let path = folder.join("history.db");
    fill(&path, count)?;
    let mut targets = Targets::begin(std::io::stdout())?;
    walk(&path, count, &mut targets)?;
    if quick {
        return Ok(targets.end()?);
    }
    let served = Served::begin(folder)?;
    let mut timed = |what: &str, most: f64, paths: &[String]| -> Result<(), Box<dyn Error>> {
        let mut slowest = 0f64;
        for path in paths {
            slowest = slowest.max(served.milliseconds(path)?);
        }
        targets.at_most(&format!("{what}, the slowest of {}", paths.len()), most, slowest, "ms")?;
        Ok(())
    };
    let middle: Vec<String> = (0..ASKED)
        .map(|n| format!("/records?older={}-0", BEGAN + ((n + 1) * count / (ASKED + 1) * 60) as i64))
        .collect();
    timed("a page in the middle of the list", 200.0, &middle)?;
    timed("the newest and the oldest page", 200.0, &["/records".to_owned(), "/records?end=oldest".to_owned()])?;
    let names: Vec<String> = (0..ASKED).map(|n| format!("/records?q=SIM:part-{}", n * PARTS / ASKED)).collect();
    timed("a search by name", 200.0, &names)?;
    let absent = ["/records?q=nobody", "/records?kind=inspect", "/records?kind=fleet&q=sim:part-1"].map(str::to_owned);
    timed("a search that finds little or nothing", 200.0, &absent)?;
    timed("devices", 200.0, &["/devices".to_owned(), "/devices?after=sim:part-5".to_owned()])?;
    let devices: Vec<String> = (0..ASKED).map(|n| format!("/device?part=sim:part-{}", n * PARTS / ASKED)).collect();
    timed("a device with its trends", 200.0, &devices)?;
    timed("the first page", 200.0, &["/".to_owned()])?;
    let reports: Vec<String> =
        (1..=REPORTS).map(|n| format!("/records/{}", (PARTS + n * ((count - PARTS) / REPORTS)) / 100 * 100)).collect();
    timed("the report of a load, to the last byte", 100.0, &reports)?;
    timed(
        "the report of a small characterisation, to the last byte",
        100.0,
        &vec![format!("/records/{}", PARTS + 1); 5],
    )?;
    Ok(targets.end()?)
}

/// A record of each part goes in as records do; the others are its rows again under other numbers, times and values, which takes
/// minutes less for a million. One in a hundred of those has a body to be shown.
fn fill(path: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    assert!(RECORD.contains(FIGURE), "the record has the figure that is to differ");
    let began = Instant::now();
    let mut store = Store::open(path, Access::Write)?;
    let texts: Vec<String> = (0..PARTS).map(record).collect();
    store.add(&texts)?;
    store.add(&[INSPECT])?;
    drop(store);
    let connection = rusqlite::Connection::open(path)?;
    let (first, parts, more) = (PARTS as i64 + 1, PARTS as i64, count as i64 - PARTS as i64);
    // Indexes are made at the end, as sorting is quicker than a million places to be found.
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let indexes = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    drop(statement);
    connection.execute_batch("PRAGMA cache_size = -400000; PRAGMA synchronous = OFF; BEGIN;")?;
    for (name, _) in &indexes {
        connection.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO record (id, at, measured, kind, command, target, device, part, version, bytes, digest, setup)
         SELECT ?2 + i, ?4 + i * 60, 1, kind, command, target, device, part, version, bytes, randomblob(32), setup
         FROM n JOIN record AS one ON one.id = 1 + i % ?3",
        [more, first, parts, BEGAN],
    )?;
    connection.execute(
        "INSERT INTO reading SELECT figure, copy.id, value * (1 + (copy.id * 7919 % 1000) / 1e5), runs, spread
         FROM record AS copy JOIN reading AS one ON one.record = 1 + (copy.id - ?1) % ?2 WHERE copy.id > ?1
         ORDER BY figure, copy.id",
        [first, parts],
    )?;
    connection.execute(
        "INSERT INTO body SELECT copy.id, deflated FROM record AS copy JOIN body ON body.record = 1 + (copy.id - ?1) % ?2
         WHERE copy.id > ?1 AND copy.id % 100 = 0",
        [first, parts],
    )?;
    for (_, made) in &indexes {
        connection.execute_batch(made)?;
    }
    connection.execute_batch("COMMIT")?;
    println!("{count} records in {:.0} s | | | beside", began.elapsed().as_secs_f64());
    Ok(())
}

fn record(index: usize) -> String {
    let figure = 590.0 + (index * 7919 % 1000) as f64 / 100.0;
    RECORD.replace(FIGURE, &figure.to_string()).replace("sim:sd-flat", &format!("sim:part-{}", index % PARTS))
}

/// Every record is on one page of the list, and on one page of its part's.
fn walk(path: &Path, count: usize, targets: &mut Targets<std::io::Stdout>) -> Result<(), Box<dyn Error>> {
    let store = Store::open(path, Access::Read)?;
    let (mut seen, mut pages, mut from) = (0, 0usize, From::Newest);
    let mut before: Option<Cursor> = None;
    while seen <= count && pages < 100 {
        let page = store.page(&Search { from, ..Search::default() }, 50)?;
        let in_order = page.entries.iter().all(|(cursor, _)| before.replace(*cursor).is_none_or(|last| last > *cursor));
        assert!(in_order, "no record twice");
        seen += page.entries.len();
        pages += 1;
        match page.entries.last().filter(|_| page.older) {
            Some((cursor, _)) => from = From::OlderThan(*cursor),
            None => break,
        }
    }
    let wanted = (count + 1).min(pages * 50) as f64;
    targets.at_least("records met by going through pages", wanted, seen as f64, "")?;
    Ok(())
}

/// The program, and a way to ask it.
struct Served {
    child: Child,
    host: String,
    token: String,
}

impl Served {
    fn begin(folder: &Path) -> Result<Served, Box<dyn Error>> {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_flashscope-serve"));
        let mut command = Command::new(program);
        // What is left of it, once it is killed, goes with the folder.
        command.current_dir(folder).env("TMPDIR", folder);
        command.args(["--json", "--listen", "127.0.0.1:0", "--store", "history.db"]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line)?;
        let (address, token) =
            told["url"].as_str().and_then(|url| url.split_once("/enter?token=")).ok_or("no address")?;
        let host = address.split_once("://").ok_or("no address")?.1.to_owned();
        Ok(Served { child, host, token: token.to_owned() })
    }

    /// From the first byte of the request to the last one of the answer.
    fn milliseconds(&self, path: &str) -> Result<f64, Box<dyn Error>> {
        let mut stream = TcpStream::connect(&self.host)?;
        let (host, token) = (&self.host, &self.token);
        let began = Instant::now();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err(format!("{path}: {}", String::from_utf8_lossy(&answer[..answer.len().min(200)])).into());
        }
        Ok(took)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
