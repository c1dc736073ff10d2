//! A run: a thread per thread of the app, each performing what its script draws.

use crate::database::Open;
use crate::pool::Pool;
use flashscope_app::definition::{Definition, MAIN};
use flashscope_app::wire::{Device, Performed, Play, Run};
use flashscope_app::{Act, Performance, Script};
use flashscope_host::load::Folder;
use flashscope_host::{MonotonicClock, SysRoot};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Instant, Nanos};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// So many failed performances one after the other end a run.
const PATIENCE: u32 = 20;
/// So many failures are told.
const TOLD: usize = 100;

/// What all threads of a run share.
struct Stage<'a> {
    app: &'a Definition,
    order: &'a Play,
    pool: Pool,
    clock: MonotonicClock,
    /// Set when the operator asks to stop.
    stop: &'a AtomicBool,
    /// Set when the main thread has ended.
    over: AtomicBool,
    done: &'a AtomicU64,
}

/// What a thread did.
#[derive(Default)]
struct Thread {
    operations: BTreeMap<u32, Performed>,
    failures: Vec<(u32, u64, String)>,
    thinking: u64,
    /// Within operations.
    busy: u64,
    ended: Option<String>,
    /// When its last operation did.
    over: Instant,
}

/// Plays an app once.
///
/// # Errors
/// Where the directory cannot be worked in at all. What fails within the app is part of the run.
pub(crate) fn play(
    order: &Play,
    directory: &Path,
    app: &Definition,
    stop: &AtomicBool,
    done: &AtomicU64,
) -> anyhow::Result<Run> {
    let (sys, clock) = (SysRoot::live(), MonotonicClock::start());
    let stage = Stage { app, order, pool: Pool::new(), clock, stop, over: AtomicBool::new(false), done };
    let folder = Folder::open(directory)?;
    let mut preparation = Script::preparation(app, order.seed);
    let began = clock.now();
    let prepared = Player::new(&stage, folder.again()?).prepare(&mut preparation);
    folder.settle()?;
    let mut run = Run { prepared: clock.now().since(began).get(), ..Run::default() };
    run.operations.resize(app.operations.len(), Performed::default());
    if let Err(why) = prepared {
        run.ended = Some(format!("its preparation failed: {why}"));
        return Ok(run);
    }
    let before = folder.device_work(&sys);
    let began = clock.now();
    run.began = clock.monotonic(began).0;
    let scripts: Vec<Script<'_>> = app
        .threads()
        .into_iter()
        .map(|thread| {
            // What runs beside the main thread goes on for as long as that does.
            let rounds = if thread == MAIN { order.rounds } else { u64::MAX };
            Script::new(app, thread, rounds, order.seed)
        })
        .collect();
    let mut folders = scripts.iter().map(|_| folder.again()).collect::<Result<Vec<_>, _>>()?;
    let mut after = Some(preparation);
    let threads: Vec<Thread> = std::thread::scope(|scope| {
        let handles: Vec<_> = scripts
            .into_iter()
            .zip(folders.drain(..))
            .map(|(script, folder)| {
                let script = match after.take() {
                    Some(preparation) => script.after(preparation),
                    None => script,
                };
                let stage = &stage;
                scope.spawn(move || Player::new(stage, folder).perform(script, began))
            })
            .collect();
        let mut handles = handles.into_iter();
        let main = handles.next().map(|handle| handle.join().expect("a thread of an app does not panic"));
        stage.over.store(true, Ordering::Relaxed);
        let rest = handles.map(|handle| handle.join().expect("a thread of an app does not panic"));
        main.into_iter().chain(rest).collect()
    });
    // Closing databases may write a lot, but no user waits for it.
    run.elapsed = threads[0].over.since(began).get();
    run.device = before.and_then(|before| {
        let after = folder.device_work(&sys)?;
        let since = |after: u64, before: u64| after.saturating_sub(before);
        Some(Device {
            busy: since(after.busy.get(), before.busy.get()),
            reads: since(after.reads, before.reads),
            read: since(after.read.get(), before.read.get()),
            writes: since(after.writes, before.writes),
            written: since(after.written.get(), before.written.get()),
            flushes: after.flushes.zip(before.flushes).map(|(after, before)| since(after, before)),
            flushing: after.flushing.zip(before.flushing).map(|(after, before)| since(after.get(), before.get())),
        })
    });
    let main = &threads[0];
    run.thinking = main.thinking;
    run.own = run.elapsed.saturating_sub(main.thinking).saturating_sub(main.busy);
    run.ended.clone_from(&main.ended);
    for thread in threads {
        for (number, performed) in thread.operations {
            run.operations[number as usize] = performed;
        }
        run.failures.extend(thread.failures);
    }
    run.failures.sort_by_key(|(_, at, _)| *at);
    run.failures.truncate(TOLD);
    let settling = clock.now();
    // What cannot be put on the medium any more is an outcome, too.
    if let Err(error) = folder.settle() {
        run.ended.get_or_insert_with(|| error.to_string());
    }
    run.settled = clock.now().since(settling).get();
    Ok(run)
}

/// One thread.
struct Player<'a> {
    stage: &'a Stage<'a>,
    folder: Folder,
    databases: BTreeMap<&'a str, Open>,
}

impl<'a> Player<'a> {
    fn new(stage: &'a Stage<'a>, folder: Folder) -> Player<'a> {
        Player { stage, folder, databases: BTreeMap::new() }
    }

    fn prepare(mut self, script: &mut Script<'_>) -> Result<(), String> {
        for performance in script {
            for act in &performance.acts {
                self.act(act).map_err(|failure| failure.said)?;
            }
            self.folder.close();
            if self.stage.stop.load(Ordering::Relaxed) {
                return Err("stopped".to_owned());
            }
        }
        // No operation is to make tables.
        let names = self.stage.app.databases.keys();
        names.into_iter().try_for_each(|name| self.database(name).map(drop)).map_err(|failure| failure.said)
    }

    fn perform(mut self, script: Script<'_>, began: Instant) -> Thread {
        let clock = self.stage.clock;
        let (mut thread, mut failed) = (Thread { over: began, ..Thread::default() }, 0);
        let is_main = script.thread() == MAIN;
        let mut due: BTreeMap<u32, Instant> = BTreeMap::new();
        for performance in script {
            if self.stage.stop.load(Ordering::Relaxed) {
                thread.ended = Some("stopped".to_owned());
                break;
            }
            if !is_main && self.stage.over.load(Ordering::Relaxed) {
                break;
            }
            let now = clock.now();
            let intended = match performance.period {
                Some(period) => {
                    let intended = due.get(&performance.operation).map_or(now, |last| *last + period);
                    due.insert(performance.operation, intended);
                    thread.thinking += wait_until(&clock, intended);
                    intended
                }
                None => now,
            };
            let start = if performance.period.is_some() { clock.now() } else { intended };
            let outcome = self.acts(&performance, thread.operations.entry(performance.operation).or_default());
            let end = clock.now();
            thread.busy += end.since(start).get();
            match outcome {
                Ok(()) => {
                    failed = 0;
                    let performed = thread.operations.entry(performance.operation).or_default();
                    performed.starts.push(intended.since(began).get());
                    performed.times.push(end.since(intended).get());
                }
                Err(failure) => {
                    failed += 1;
                    if thread.failures.len() < TOLD {
                        thread.failures.push((performance.operation, start.since(began).get(), failure.said.clone()));
                    }
                    if failure.ends || failed == PATIENCE {
                        let more =
                            if failed == PATIENCE { format!(" ({PATIENCE} failures in a row)") } else { String::new() };
                        thread.ended = Some(format!("{}{more}", failure.said));
                        break;
                    }
                }
            }
            if is_main {
                self.stage.done.fetch_add(1, Ordering::Relaxed);
            }
            if performance.think > Nanos::ZERO {
                thread.thinking += wait_until(&clock, end + performance.think);
            }
        }
        thread.over = clock.now();
        thread
    }

    fn acts(&mut self, performance: &Performance, performed: &mut Performed) -> Result<(), Failure> {
        let done = performance.acts.iter().try_for_each(|act| {
            let (read, written) = self.act(act)?;
            performed.read += read.get();
            performed.written += written.get();
            Ok(())
        });
        self.folder.close();
        done
    }

    /// Bytes read and written by calls of ours.
    fn act(&mut self, act: &Act) -> Result<(Bytes, Bytes), Failure> {
        const NOTHING: (Bytes, Bytes) = (Bytes::ZERO, Bytes::ZERO);
        let pool = &self.stage.pool;
        let of = |contents: u64| move |at: u64, length: u64| pool.slice(contents, at, length);
        let folder = &mut self.folder;
        match act {
            Act::Write { file, size, chunk, contents } => {
                folder.write(file, *size, *chunk, of(*contents)).map(|()| (Bytes::ZERO, *size))
            }
            Act::Append { file, size, chunk, contents } => {
                folder.append(file, *size, *chunk, of(*contents)).map(|()| (Bytes::ZERO, *size))
            }
            Act::Overwrite { file, size, chunk, contents, seed } => {
                folder.overwrite(file, *size, *chunk, places(*seed), of(*contents)).map(|()| (Bytes::ZERO, *size))
            }
            Act::Read { file, size, chunk, contents } => {
                let look = |at: u64, bytes: &[u8]| {
                    contents.is_none_or(|contents| pool.slice(contents, at, bytes.len() as u64) == bytes)
                };
                let (read, wrong) = folder.read(file, *size, *chunk, look)?;
                if let Some(at) = wrong {
                    return Err(Failure::of(format!(
                        "{file} came back with other bytes than were written, from {at} on"
                    )));
                }
                Ok((read, Bytes::ZERO))
            }
            Act::ReadOn { file, at, size, chunk } => {
                folder.read_on(file, *at, *size, *chunk).map(|read| (read, Bytes::ZERO))
            }
            Act::ReadRandom { file, size, chunk, seed } => {
                folder.read_random(file, *size, *chunk, places(*seed)).map(|read| (read, Bytes::ZERO))
            }
            Act::Map { file, size, write, seed } => {
                let bytes = write.then(|| pool.slice(*seed, 0, flashscope_host::page_size().get()));
                let touched = folder.map(file, *size, places(*seed), bytes)?;
                return Ok(if *write { (Bytes::ZERO, touched) } else { (touched, Bytes::ZERO) });
            }
            Act::Fsync { file } => folder.sync(file, false).map(|()| NOTHING),
            Act::Fdatasync { file } => folder.sync(file, true).map(|()| NOTHING),
            Act::SyncDir { dir } => folder.sync_dir(dir).map(|()| NOTHING),
            Act::Rename { file, to } => folder.rename(file, to).map(|()| NOTHING),
            Act::Remove { file } => folder.remove(file).map(|()| NOTHING),
            Act::MakeDir { dir } => folder.make_dir(dir).map(|()| NOTHING),
            Act::List { dir } => folder.list(dir).map(|_| NOTHING),
            Act::Stat { file } => folder.stat(file).map(|_| NOTHING),
            Act::Truncate { file, size } => folder.truncate(file, *size).map(|()| NOTHING),
            Act::Allocate { file, size } => folder.allocate(file, *size).map(|()| NOTHING),
            Act::DropCaches => folder.drop_caches().map(|()| NOTHING),
            Act::Wait { time } => {
                wait_until(&self.stage.clock, self.stage.clock.now() + *time);
                Ok(NOTHING)
            }
            Act::Sql { database, statements } => {
                self.sql(database, statements)?;
                return Ok(NOTHING);
            }
        }
        .map_err(Failure::from)
    }

    fn sql(&mut self, name: &str, statements: &[(String, Vec<flashscope_app::Value>)]) -> Result<(), Failure> {
        let pool = &self.stage.pool;
        self.database(name)?.transact(statements, pool).map_err(|error| failed(name, &error))
    }

    /// The database of this name, opened at its first use.
    fn database(&mut self, name: &str) -> Result<&mut Open, Failure> {
        let (kept, said) = self.stage.app.databases.get_key_value(name).expect("definitions name what they have");
        if !self.databases.contains_key(name) {
            let order = self.stage.order;
            let journal = order.journal.as_deref().unwrap_or(said.journal.word());
            let synchronous = order.synchronous.as_deref().unwrap_or(said.synchronous.word());
            let path = self.folder.path(&said.file);
            let open = Open::new(&path, said, journal, synchronous).map_err(|error| failed(name, &error))?;
            self.databases.insert(kept, open);
        }
        Ok(self.databases.get_mut(name).expect("it was opened above"))
    }
}

/// Why a performance failed.
struct Failure {
    said: String,
    /// Whether nothing that follows can go well: no room is left, or nothing may be written any more.
    ends: bool,
}

impl Failure {
    fn of(said: String) -> Failure {
        let ends = ["ENOSPC", "EROFS", "EDQUOT", "database or disk is full", "readonly database"];
        Failure { ends: ends.iter().any(|word| said.contains(word)), said }
    }
}

impl From<flashscope_host::load::FolderError> for Failure {
    fn from(error: flashscope_host::load::FolderError) -> Failure {
        Failure::of(error.to_string())
    }
}

fn failed(database: &str, error: &rusqlite::Error) -> Failure {
    Failure::of(format!("database {database}: {error}"))
}

/// Random places among so many.
fn places(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut rng = Rng::new(seed);
    move |bound| rng.below(bound as usize) as u64
}

/// Waits, and says how long that was, in nanoseconds.
fn wait_until(clock: &MonotonicClock, at: Instant) -> u64 {
    let now = clock.now();
    if at <= now {
        return 0;
    }
    std::thread::sleep(std::time::Duration::from_nanos(at.since(now).get()));
    clock.now().since(now).get()
}
