//! Groups rows into tables: which command or heading a table stands under, where it ends, and where
//! the next one begins although nothing is said.

mod rows;

use super::about::About;
use super::command::{self, Command};
use super::convert;
use super::heading::{self, Heading, Test};
use super::identity::{self, Fact};
use super::notes::Notes;
use super::row;
use super::table::{Body, Context, Table};
use super::{Parsed, clean, ending};
use flashscope_model::Observations;
use flashscope_units::Bytes;
use rows::Repeated;
use std::mem::{Discriminant, discriminant};
use std::rc::Rc;

/// Lines that one command may take.
const MAX_COMMAND_LINES: u32 = 16;

/// Reads all tables of a text.
pub(super) fn assemble(text: &str) -> Parsed {
    let mut reader = Reader::default();
    for (number, line) in clean::lines(text) {
        for piece in clean::pieces(line) {
            reader.read(number, &piece);
        }
    }
    reader.finish(text)
}

#[derive(Default)]
struct Reader {
    context: Context,
    /// Heading without a count that the ones below it belong to.
    section: Heading,
    table: Option<Table>,
    /// Which test the last table under this command was of.
    last: Option<Discriminant<Body>>,
    tables: Vec<Table>,
    rows: usize,
    /// No more rows are taken.
    full: bool,
    /// A command that goes on in the next line.
    unfinished: Option<(String, u32)>,
    /// The line of the last row, where the row may go on in the next line.
    wrapped: Option<(u32, String)>,
    /// The next line may be a size in these units.
    size_of: Option<(u64, Option<String>)>,
    about: About,
    notes: Notes,
    /// Lines that repeat a row of their table.
    repeated: Repeated,
}

impl Reader {
    fn read(&mut self, number: u32, line: &str) {
        let line = clean::without_prefix(line);
        if line.trim().is_empty() {
            return;
        }
        if let Some((mut start, lines)) = self.unfinished.take() {
            start.truncate(start.trim_end().trim_end_matches('\\').len());
            // Each line of a quoted command has a mark of its own, which is no redirection.
            let rest = line.trim_start_matches(['>', '|', ' ', '\t']);
            self.command_line(&format!("{start} {rest}"), lines + 1);
            return;
        }
        let rows = row::rows(line);
        if !rows.is_empty() {
            self.wrapped = None;
            for row in rows {
                self.row(number, row, line);
            }
            return;
        }
        if self.command_line(line, 1) {
            return;
        }
        if self.rest_of_command(line) || self.rest_of_row(number, line) {
            return;
        }
        self.other_line(line);
    }

    fn command_line(&mut self, line: &str, lines: u32) -> bool {
        let Some(command) = command::read(line) else { return false };
        self.close();
        if command.open_ended && lines < MAX_COMMAND_LINES {
            self.unfinished = Some((line.to_owned(), lines));
        }
        if let Some(path) = &command.path {
            self.about.path(path.clone());
            self.about.tested(path);
        }
        if command.asks_for_a_test() || command.open_ended {
            self.context = Context { command: Some(Rc::new(command)), ..Context::default() };
            self.last = None;
            self.section = Heading::default();
        }
        true
    }

    /// A command that a forum wrapped without a backslash: options and nothing else, before any row.
    fn rest_of_command(&mut self, line: &str) -> bool {
        let options = line.trim_start().starts_with("--") || line.trim_start().starts_with("/dev/");
        let Some(command) = self.context.command.as_ref().filter(|_| options && self.table.is_none()) else {
            return false;
        };
        let more = command::read(&format!("flashbench {line} -"));
        let Some(more) = more else { return false };
        let merged = Rc::new(command.as_ref().clone().and(more));
        if let Some(path) = &merged.path {
            self.about.path(path.clone());
        }
        self.context.command = Some(merged);
        true
    }

    fn other_line(&mut self, line: &str) {
        if let Some((unit, path)) = self.size_of.take()
            && let Ok(count) = line.trim().parse::<u64>()
            && let Some(bytes) = count.checked_mul(unit)
        {
            self.about.fact(Fact::Size(path, Bytes(bytes)));
            return;
        }
        self.size_of = identity::size_command(line);
        let facts = identity::facts(line);
        let silent = facts.is_empty();
        facts.into_iter().for_each(|fact| self.about.fact(fact));
        if self.size_of.is_none() && silent {
            match heading::read(line) {
                Some(heading) => self.heading(heading),
                None if is_other_command(line) => self.forget(),
                None => {}
            }
        } else if self.size_of.is_some() {
            self.forget();
        }
    }

    fn heading(&mut self, heading: Heading) {
        self.close();
        let heading = heading.within(self.section);
        if heading.count.is_none() {
            self.section = heading;
        }
        let command = self.context.command.take().filter(|command| asks_for(command, heading.test));
        self.context = Context { command, heading, turn: self.context.turn };
    }

    /// Another program's output follows.
    fn forget(&mut self) {
        self.close();
        self.last = None;
        self.context = Context::default();
        self.section = Heading::default();
    }

    fn open(&mut self, number: u32, body: Body) {
        self.close();
        let test = discriminant(&body);
        self.context.turn += usize::from(self.last == Some(test));
        self.last = Some(test);
        self.table =
            Some(Table { first_line: number, last_line: number, context: self.context.clone(), body, cut: false });
    }

    fn close(&mut self) {
        self.wrapped = None;
        self.tables.extend(self.table.take());
    }

    fn finish(mut self, text: &str) -> Parsed {
        self.close();
        let mut notes = self.notes;
        if let Some(note) = ending::judge(text, &mut self.tables) {
            notes.push(note);
        }
        let converted = convert::runs(&self.tables);
        if let Some(note) = self.repeated.note() {
            notes.push(note);
        }
        let about = self.about.finish(&mut notes);
        Parsed {
            observations: Observations { capacity: about.capacity, runs: converted.runs, ..Observations::default() },
            device: about.device,
            capacity: about.capacity,
            several_devices: about.several_devices,
            notes: notes.behind(converted.notes),
        }
    }
}

fn asks_for(command: &Command, test: Option<Test>) -> bool {
    match test {
        None => true,
        Some(Test::Align) => command.align || command.write_align,
        Some(Test::OpenAu) => command.open_au,
        Some(Test::Fat) => command.find_fat,
        Some(Test::Program) => command.program,
        Some(Test::Interval) => command.interval,
        Some(Test::Scatter) => command.scatter,
    }
}

/// A prompt with a command behind it: a known one, or one with options, assignments or paths.
fn is_other_command(line: &str) -> bool {
    /// Programs that people run beside flashbench.
    const KNOWN: [&str; 14] = [
        "bonnie", "cat", "cd", "dd", "dmesg", "exit", "f3probe", "f3read", "f3write", "fdisk", "fio", "hdparm",
        "iozone", "ls",
    ];
    let Some(at) = line.find(['#', '$']).filter(|at| *at < 80) else { return false };
    let Some(typed) = line[at + 1..].strip_prefix([' ', '\t']).map(str::trim_start) else { return false };
    let prompt = line[..at].trim_start();
    let prompt_like = prompt.split_whitespace().count() <= 1 || prompt.contains(['@', ':', '~', '/', '>']);
    let mut words = typed.split_whitespace();
    let first = words.next().unwrap_or_default();
    let argument = |word: &str| word.starts_with(['-', '/']) || word.contains("=/") || word.contains("--");
    let command = KNOWN.contains(&first) || first.starts_with("./") || first.starts_with('/') || words.any(argument);
    prompt_like && first.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/')) && command
}
