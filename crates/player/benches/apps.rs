//! What playing apps costs beside the apps, and SQLite's figures beside those of the `sqlite3` command line.
//!
//! - flashscope's own share of the run time of the apps of the suite heavy on a file system in memory, where nothing else takes
//!   long: what the player does between operations, and the making of what is written.
//! - The transactions of the app androbench-sqlite played, and the same statements with the same values by `sqlite3` from a
//!   script, on the same file system, in turns. The time of the command line is that of the whole process without one
//!   that only makes the tables. The ratio is the median over the pairs.
//!
//! `cargo bench -p flashscope-player --bench apps [-- --at DIRECTORY --pairs N]` (a part of `scripts/prove apps`). DIRECTORY is
//! where transactions are compared [default: cargo's own directory for such files]. Exit code 1 where a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_app::definition::MAIN;
use flashscope_app::suite::SUITES;
use flashscope_app::wire::{Above, Ground, Line, Order, Play, Run};
use flashscope_app::{Act, Definition, Script, Value, catalogue};
use flashscope_testkit::Targets;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

type Res<T> = Result<T, Box<dyn Error>>;

fn main() -> Res<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).cloned();
    let at = after("--at").map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let pairs: u32 = after("--pairs").and_then(|text| text.parse().ok()).unwrap_or(9);
    let mut targets = Targets::begin(io::stdout())?;
    own_share(&mut targets)?;
    beside_sqlite(&mut targets, &at, pairs)?;
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A directory of our own; gone when dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn below(above: &Path) -> Res<Temporary> {
        let path = above.join(format!("flashscope-apps-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Temporary(path.canonicalize()?))
    }

    /// An empty directory in it.
    fn fresh(&self) -> Res<PathBuf> {
        let path = self.0.join("run");
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path)?;
        Ok(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn played(app: &Definition, rounds: u64, directory: &Path) -> Res<Run> {
    let above = Above::Directory(directory.display().to_string());
    let play = Play {
        definition: app.text.clone(),
        name: "run".to_owned(),
        rounds,
        seed: 1,
        journal: None,
        synchronous: None,
    };
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_flashscope-player")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // Closing its stdin means to stop: it stays open until the run is there.
    let mut stdin = child.stdin.take().ok_or("its stdin is a pipe")?;
    for order in [Order::Open(Ground { above, keep: false }), Order::Play(play)] {
        writeln!(stdin, "{}", serde_json::to_string(&order)?)?;
    }
    for line in BufReader::new(child.stdout.take().ok_or("its stdout is a pipe")?).lines() {
        match serde_json::from_str(&line?)? {
            Line::Run(run) if run.ended.is_none() && run.failures.is_empty() => {
                drop(stdin);
                child.wait()?;
                return Ok(*run);
            }
            Line::Run(run) => return Err(format!("{}: {:?} {:?}", app.name, run.ended, run.failures).into()),
            Line::Error(why) => return Err(why.into()),
            Line::Open(_) | Line::Progress(..) | Line::Done => {}
        }
    }
    Err("the player said nothing".into())
}

fn own_share(targets: &mut Targets<impl Write>) -> Res<()> {
    let target = "flashscope's own time in the suite heavy on a file system in memory";
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return Ok(targets.left_out(target, "there is no /dev/shm")?);
    }
    let place = Temporary::below(memory)?;
    let (mut own, mut all) = (0, 0);
    for (name, rounds) in SUITES[0].apps.iter().filter(|(_, rounds)| *rounds > 0) {
        let app = catalogue::app(name).ok_or("the suite's apps come along")?;
        let run = played(&app, *rounds, &place.fresh()?)?;
        let time = run.elapsed - run.thinking;
        println!("{name}: {:.2} % of {:.1} ms", 100.0 * run.own as f64 / time as f64, time as f64 / 1e6);
        (own, all) = (own + run.own, all + time);
    }
    Ok(targets.at_most(target, 2.0, 100.0 * own as f64 / all as f64, "%")?)
}

fn beside_sqlite(targets: &mut Targets<impl Write>, at: &Path, pairs: u32) -> Res<()> {
    let target = "androbench-sqlite beside sqlite3 doing the same transactions";
    if Command::new("sqlite3").arg("--version").output().is_err() {
        return Ok(targets.left_out(target, "there is no sqlite3")?);
    }
    let app = catalogue::app("androbench-sqlite").ok_or("it comes along")?;
    let place = Temporary::below(at)?;
    let (empty, whole) = (place.0.join("empty.sql"), place.0.join("whole.sql"));
    let database = &app.databases["bench"];
    let tables = format!(
        "PRAGMA page_size={};\nPRAGMA journal_mode={};\nPRAGMA synchronous={};\n{};\n",
        database.page.get(),
        database.journal.word(),
        database.synchronous.word(),
        database.schema.join(";\n")
    );
    std::fs::write(&empty, &tables)?;
    std::fs::write(&whole, tables + &transactions(&app))?;
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let ours = |place: &Temporary| -> Res<f64> {
            let run = played(&app, app.rounds, &place.fresh()?)?;
            Ok(run.operations.iter().flat_map(|operation| &operation.times).sum::<u64>() as f64 / 1e9)
        };
        let theirs =
            |place: &Temporary| -> Res<f64> { Ok(script(&whole, &place.fresh()?)? - script(&empty, &place.fresh()?)?) };
        let (ours, theirs) = match pair % 2 {
            0 => (ours(&place)?, theirs(&place)?),
            _ => {
                let theirs = theirs(&place)?;
                (ours(&place)?, theirs)
            }
        };
        println!("pair {}: ours {ours:.3} s, sqlite3 {theirs:.3} s, ratio {:.3}", pair + 1, ours / theirs);
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    let off = (ratios[ratios.len() / 2] - 1.0).abs() * 100.0;
    Ok(targets.at_most(target, 3.0, off, "% apart")?)
}

/// The statements that the app executes, with values of the same kinds and lengths in their places.
fn transactions(app: &Definition) -> String {
    let mut text = String::new();
    for performance in Script::new(app, MAIN, app.rounds, 1) {
        for act in performance.acts {
            let Act::Sql { statements, .. } = act else { continue };
            for (sql, values) in statements {
                let mut pieces = sql.split('?');
                text.push_str(pieces.next().unwrap_or_default());
                for (value, piece) in values.iter().zip(pieces) {
                    let _ = match value {
                        Value::Integer(number) => write!(text, "{number}"),
                        // Not the same text each time: SQLite writes nothing where a row stays as it is.
                        Value::Text(from, length) => {
                            let letters = format!("{from:x}").repeat(*length as usize);
                            write!(text, "'{}'", &letters[..*length as usize])
                        }
                        Value::Blob(_, length) => write!(text, "x'{}'", "5a".repeat(*length as usize)),
                    };
                    text.push_str(piece);
                }
                text.push_str(";\n");
            }
        }
    }
    text
}

/// Seconds that `sqlite3` takes for a script on a new database.
fn script(script: &Path, directory: &Path) -> Res<f64> {
    let began = Instant::now();
    let status = Command::new("sqlite3")
        .args(["-batch", "-bail"])
        .arg(directory.join("bench.db"))
        .stdin(File::open(script)?)
        .stdout(Stdio::null())
        .status()?;
    let time = began.elapsed().as_secs_f64();
    if status.success() { Ok(time) } else { Err(format!("sqlite3 ended with {status}").into()) }
}
