//! What an app really does: acts with every name and size drawn, in order, from a definition and a seed.

use crate::definition::{Definition, MAIN, Operation, Source, Step};
use crate::names::{self, Numbers};
use flashscope_stats::Rng;
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// What a thread of an app does, in order. The same definition, seed and number of rounds give the same acts.
#[derive(Debug)]
pub struct Script<'a> {
    thread: &'a str,
    operations: Vec<(u32, &'a Operation)>,
    rounds: u64,
    rng: Rng,
    /// Where we are: the round, the operation, and how often it was performed in this round.
    at: (u64, usize, u64),
    /// How often each operation was performed.
    performed: BTreeMap<&'a str, u64>,
    /// How often each statement was executed, by its text.
    executed: BTreeMap<&'a str, u64>,
    /// What stands in the files that this thread wrote; a file that was written over in parts has none.
    contents: BTreeMap<String, u64>,
    /// Where `read-on` left off.
    left_off: BTreeMap<String, u64>,
    made: u64,
}

/// An operation, performed once.
#[derive(Clone, Debug, PartialEq)]
pub struct Performance {
    /// Which operation, counted from 0 in the definition.
    pub operation: u32,
    /// In which round, counted from 0.
    pub round: u64,
    /// See [`Operation::period`].
    pub period: Option<Nanos>,
    /// What follows it without the device.
    pub think: Nanos,
    /// What is done.
    pub acts: Vec<Act>,
}

/// One act on a file or a database. What files hold is named by a number: byte `i` of contents `c` is the byte at
/// `(c + i) mod` its length of a pool that nothing compresses.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Act {
    /// Makes or empties a file and writes it.
    Write { file: String, size: Bytes, chunk: Bytes, contents: u64 },
    /// Writes behind its end.
    Append { file: String, size: Bytes, chunk: Bytes, contents: u64 },
    /// Writes over random pieces.
    Overwrite { file: String, size: Bytes, chunk: Bytes, contents: u64, seed: u64 },
    /// Reads from its start, all of it without a size; compares where contents are given.
    Read { file: String, size: Option<Bytes>, chunk: Bytes, contents: Option<u64> },
    /// Reads from this place of the file, seen as a circle.
    ReadOn { file: String, at: u64, size: Bytes, chunk: Bytes },
    /// Reads random pieces.
    ReadRandom { file: String, size: Bytes, chunk: Bytes, seed: u64 },
    /// Touches random pages through a map.
    Map { file: String, size: Bytes, write: bool, seed: u64 },
    /// Flushes a file.
    Fsync { file: String },
    /// Flushes a file's data.
    Fdatasync { file: String },
    /// Flushes the names of a directory.
    SyncDir { dir: String },
    /// Renames.
    Rename { file: String, to: String },
    /// Removes a file, if it is there.
    Remove { file: String },
    /// Makes directories.
    MakeDir { dir: String },
    /// Reads names.
    List { dir: String },
    /// Asks for size and times.
    Stat { file: String },
    /// Cuts or lengthens.
    Truncate { file: String, size: Bytes },
    /// Makes room.
    Allocate { file: String, size: Bytes },
    /// Flushes all and empties the page cache of it.
    DropCaches,
    /// Does nothing.
    Wait { time: Nanos },
    /// Executes statements in one transaction.
    Sql { database: String, statements: Vec<(String, Vec<Value>)> },
}

/// A value of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Integer(i64),
    /// So many letters and digits, from this place of a pool on.
    Text(u64, u64),
    /// So many bytes, likewise.
    Blob(u64, u64),
}

impl<'a> Script<'a> {
    /// What a thread of this name does in so many rounds.
    pub fn new(app: &'a Definition, thread: &'a str, rounds: u64, seed: u64) -> Script<'a> {
        let operations = (0..).zip(&app.operations).filter(|(_, operation)| operation.thread == thread);
        let number = app.threads().iter().position(|name| *name == thread).unwrap_or_default() as u64;
        Script::of(thread, operations.collect(), rounds, stream(mix(seed), number + 1))
    }

    /// What is done before the clock runs.
    pub fn preparation(app: &'a Definition, seed: u64) -> Script<'a> {
        Script::of(MAIN, (0..).zip(&app.prepare).collect(), 1, mix(seed))
    }

    fn of(thread: &'a str, operations: Vec<(u32, &'a Operation)>, rounds: u64, seed: u64) -> Script<'a> {
        Script {
            thread,
            operations,
            rounds,
            rng: Rng::new(seed),
            at: (0, 0, 0),
            performed: BTreeMap::new(),
            executed: BTreeMap::new(),
            contents: BTreeMap::new(),
            left_off: BTreeMap::new(),
            made: seed,
        }
    }

    /// Continues where another one ended: files that it wrote can be verified, and serials of statements go on.
    pub fn after(mut self, earlier: Script<'a>) -> Script<'a> {
        self.contents.extend(earlier.contents);
        for (sql, count) in earlier.executed {
            *self.executed.entry(sql).or_default() += count;
        }
        self
    }

    /// Whose acts these are.
    pub fn thread(&self) -> &'a str {
        self.thread
    }

    /// How many performances there are in all.
    pub fn length(&self) -> u64 {
        let each = |operation: &Operation| self.rounds.div_ceil(operation.every).saturating_mul(operation.times);
        self.operations.iter().map(|(_, operation)| each(operation)).fold(0, u64::saturating_add)
    }

    fn performance(&mut self, number: u32, operation: &'a Operation) -> Performance {
        let (round, _, turn) = self.at;
        let serial = self.performed.entry(&operation.name).or_default();
        let numbers = Numbers { round, turn, serial: *serial, any: self.rng.next_u64() };
        *serial += 1;
        let acts = operation.steps.iter().map(|step| self.act(step, numbers)).collect();
        Performance { operation: number, round, period: operation.period, think: operation.think, acts }
    }

    fn act(&mut self, step: &'a Step, numbers: Numbers) -> Act {
        let name = |name: &str| names::fill(name, numbers).expect("names were checked when the definition was read");
        match step {
            Step::Write { file, size, chunk } => {
                let (file, contents) = (name(file), self.new_contents());
                self.contents.insert(file.clone(), contents);
                Act::Write { file, size: size.draw(&mut self.rng), chunk: *chunk, contents }
            }
            Step::Append { file, size, chunk } => {
                let file = name(file);
                // The bytes behind what is there follow from the same contents, so that the whole can be verified.
                let contents = match self.contents.get(&file) {
                    Some(contents) => *contents,
                    None => self.new_contents(),
                };
                self.contents.insert(file.clone(), contents);
                Act::Append { file, size: size.draw(&mut self.rng), chunk: *chunk, contents }
            }
            Step::Overwrite { file, size, chunk } => {
                let (file, contents, seed) = (name(file), self.new_contents(), self.rng.next_u64());
                self.contents.remove(&file);
                Act::Overwrite { file, size: size.draw(&mut self.rng), chunk: *chunk, contents, seed }
            }
            Step::Read { file, size, chunk, verify } => {
                let file = name(file);
                let contents = self.contents.get(&file).copied().filter(|_| *verify);
                let size = size.as_ref().map(|size| size.draw(&mut self.rng));
                Act::Read { file, size, chunk: *chunk, contents }
            }
            Step::ReadOn { file, size, chunk } => {
                let (file, size) = (name(file), size.draw(&mut self.rng));
                let left_off = self.left_off.entry(file.clone()).or_default();
                let at = *left_off;
                *left_off += size.get();
                Act::ReadOn { file, at, size, chunk: *chunk }
            }
            Step::ReadRandom { file, size, chunk } => {
                let (size, seed) = (size.draw(&mut self.rng), self.rng.next_u64());
                Act::ReadRandom { file: name(file), size, chunk: *chunk, seed }
            }
            Step::Map { file, size, write } => {
                let (file, size, seed) = (name(file), size.draw(&mut self.rng), self.rng.next_u64());
                if *write {
                    self.contents.remove(&file);
                }
                Act::Map { file, size, write: *write, seed }
            }
            Step::Fsync { file } => Act::Fsync { file: name(file) },
            Step::Fdatasync { file } => Act::Fdatasync { file: name(file) },
            Step::SyncDir { dir } => Act::SyncDir { dir: name(dir) },
            Step::Rename { file, to } => {
                let (file, to) = (name(file), name(to));
                match self.contents.remove(&file) {
                    Some(contents) => self.contents.insert(to.clone(), contents),
                    None => self.contents.remove(&to),
                };
                Act::Rename { file, to }
            }
            Step::Remove { file } => {
                let file = name(file);
                self.contents.remove(&file);
                Act::Remove { file }
            }
            Step::MakeDir { dir } => Act::MakeDir { dir: name(dir) },
            Step::List { dir } => Act::List { dir: name(dir) },
            Step::Stat { file } => Act::Stat { file: name(file) },
            Step::Truncate { file, size } => {
                let file = name(file);
                self.contents.remove(&file);
                Act::Truncate { file, size: size.draw(&mut self.rng) }
            }
            Step::Allocate { file, size } => Act::Allocate { file: name(file), size: size.draw(&mut self.rng) },
            Step::DropCaches {} => Act::DropCaches,
            Step::Wait { time } => Act::Wait { time: *time },
            Step::Sql { database, statements } => {
                let mut drawn = Vec::new();
                for statement in statements {
                    for _ in 0..statement.times {
                        let count = self.executed.entry(&statement.sql).or_default();
                        *count += 1;
                        let serial = *count;
                        let values =
                            statement.values.iter().map(|source| self.value(source, numbers, serial)).collect();
                        drawn.push((statement.sql.clone(), values));
                    }
                }
                Act::Sql { database: database.clone(), statements: drawn }
            }
        }
    }

    fn value(&mut self, source: &Source, numbers: Numbers, serial: u64) -> Value {
        let mut below = |bound: u64| self.rng.below(bound as usize) as u64;
        match source {
            Source::Round => Value::Integer(numbers.round as i64),
            Source::Serial => Value::Integer(serial as i64),
            Source::Past => Value::Integer(below(serial) as i64 + 1),
            Source::Any(bound) => Value::Integer(below(*bound) as i64 + 1),
            Source::Number => Value::Integer((self.rng.next_u64() >> 1) as i64),
            Source::Text(size) => Value::Text(self.rng.next_u64(), size.draw(&mut self.rng).get()),
            Source::Blob(size) => Value::Blob(self.rng.next_u64(), size.draw(&mut self.rng).get()),
        }
    }

    fn new_contents(&mut self) -> u64 {
        self.made = stream(self.made, 1);
        mix(self.made)
    }
}

impl Iterator for Script<'_> {
    type Item = Performance;

    fn next(&mut self) -> Option<Performance> {
        loop {
            let (round, place, turn) = self.at;
            if round >= self.rounds || self.operations.is_empty() {
                return None;
            }
            let Some(&(number, operation)) = self.operations.get(place) else {
                self.at = (round + 1, 0, 0);
                continue;
            };
            if turn >= operation.times || round % operation.every != 0 {
                self.at = (round, place + 1, 0);
                continue;
            }
            let performance = self.performance(number, operation);
            self.at = (round, place, turn + 1);
            return Some(performance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = r#"
        name = "mine"
        title = "mine"
        source = "me"
        rounds = 4
        [databases.d]
        file = "d.db"
        schema = ["CREATE TABLE t (a INTEGER, b TEXT)"]
        [[prepare]]
        name = "before"
        steps = [{ do = "write", file = "old", size = "1KiB-9KiB" }]
        [[operation]]
        name = "copy"
        times = 2
        steps = [
          { do = "write", file = "{n}-{k}.tmp", size = "1KiB-9KiB" },
          { do = "read", file = "{n}-{k}.tmp", verify = true },
          { do = "rename", file = "{n}-{k}.tmp", to = "{s}" },
          { do = "append", file = "{s}", size = "1KiB" },
          { do = "read", file = "{s}", verify = true },
          { do = "overwrite", file = "{s}", size = "1KiB" },
          { do = "read", file = "{s}", verify = true },
          { do = "read", file = "old", verify = true },
        ]
        [[operation]]
        name = "rows"
        every = 2
        steps = [{ do = "sql", database = "d", statements = [
          { sql = "INSERT INTO t VALUES (?, ?)", values = ["serial", "text:4-9"], times = 3 },
          { sql = "DELETE FROM t WHERE a = ?", values = ["past"] },
        ] }]
    "#;

    fn drawn(app: &Definition, seed: u64) -> Vec<Performance> {
        let mut before = Script::preparation(app, seed);
        assert_eq!(before.by_ref().count(), 1);
        Script::new(app, MAIN, 4, seed).after(before).collect()
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_one_other_sizes() {
        let app = Definition::parse(APP).expect("a definition");
        let one = drawn(&app, 7);
        assert_eq!(one, drawn(&app, 7));
        assert_ne!(one, drawn(&app, 8));
        let operations: Vec<(u64, u32)> = one.iter().map(|performed| (performed.round, performed.operation)).collect();
        let expect = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 0), (2, 0), (2, 0), (2, 1), (3, 0), (3, 0)];
        assert_eq!(operations, expect);
        assert_eq!(Script::new(&app, MAIN, 4, 7).length(), 10);
    }

    #[test]
    fn a_file_can_be_verified_under_its_new_name_until_parts_of_it_are_written_over() {
        let app = Definition::parse(APP).expect("a definition");
        let third = &drawn(&app, 7)[3];
        let Act::Write { file, contents, .. } = &third.acts[0] else { panic!("{third:?}") };
        assert_eq!(file, "1-0.tmp");
        let verified = |at: usize| match &third.acts[at] {
            Act::Read { file, contents, .. } => (file.as_str(), *contents),
            other => panic!("{other:?}"),
        };
        assert_eq!(verified(1), ("1-0.tmp", Some(*contents)));
        assert_eq!(verified(4), ("2", Some(*contents)));
        assert_eq!(verified(6), ("2", None));
        assert!(verified(7).1.is_some(), "what the preparation wrote is known");
    }

    #[test]
    fn serials_count_executions_and_past_ones_have_been() {
        let app = Definition::parse(APP).expect("a definition");
        let mut serials = Vec::new();
        for performed in drawn(&app, 7).iter().filter(|performed| performed.operation == 1) {
            let Act::Sql { statements, .. } = &performed.acts[0] else { panic!("{performed:?}") };
            for (sql, values) in statements {
                let Value::Integer(number) = values[0] else { panic!("{values:?}") };
                if sql.starts_with("INSERT") { serials.push(number) } else { assert!((1..=2).contains(&number)) }
            }
        }
        assert_eq!(serials, [1, 2, 3, 4, 5, 6]);
    }
}
