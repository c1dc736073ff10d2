//! The one writer of stdout, the talk on stderr, and files of which none costs another.

use crate::args::Usage;
use crate::error::Failure;
use crate::{input, target};
use anyhow::anyhow;
use flashscope_console::Manner;
pub(crate) use flashscope_console::{say, stderr_width, width, wrapped};
use flashscope_host::{HostError, Output, Outputs, SysRoot};
use flashscope_report::{Style, foreign};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::OnceLock;

/// What was said of how results are said; the same for the whole run of the program.
static MANNER: OnceLock<Manner> = OnceLock::new();

/// Takes what was said of how results are said, before the first of them.
pub(crate) fn set_manner(manner: Manner) {
    let _ = MANNER.set(manner);
}

/// What was said of it.
pub(crate) fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Whether progress and notices are unwanted.
pub(crate) fn quiet() -> bool {
    manner().quiet
}

/// Whether more is to be said than what was asked.
pub(crate) fn verbose() -> bool {
    manner().verbose && !quiet()
}

/// Prints data on stdout. Whatever is in it that a terminal would act on is shown instead, our own paint apart.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let text = if colour() { foreign::painted(text).into() } else { foreign::page(text) };
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    printed(write!(stdout, "{text}{end}").and_then(|()| stdout.flush()))
}

fn printed(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::ClosedPipe),
        Err(error) => Err(Failure::Cannot(anyhow!("cannot write to stdout: {}", input::said(&error)))),
    }
}

/// Says something on stderr that may go unsaid (`--quiet`).
pub(crate) fn talk(text: &str) {
    if !quiet() {
        say(text);
    }
}

/// A line of a list: a name, already as wide as all names, and what is said of it, which goes on below itself.
pub(crate) fn named(name: &str, said: &str) -> String {
    let indent = " ".repeat(name.chars().count() + 2);
    let room = width().saturating_sub(indent.len()).max(20);
    format!("{name}  {}", flashscope_report::wrapped(said, room).join(&format!("\n{indent}")))
}

/// Says on stderr what went wrong.
pub(crate) fn error(text: &str) {
    say(&format!("error: {text}"));
}

/// Prints what there is to say of what was typed: help and version are data, all else is an error; then also says the exit code.
pub(crate) fn usage(usage: &Usage) -> Result<u8, Failure> {
    set_manner(Manner { color: usage.color, ..Manner::default() });
    if !usage.asked_for {
        // Without colours, as what was typed may be the name of a file.
        say(usage.plain.trim_end());
        return Ok(2);
    }
    let mut stdout = std::io::stdout().lock();
    let text = if colour() { &usage.coloured } else { &usage.plain };
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())).map(|()| 0)
}

/// Whether what is printed may be coloured.
pub(crate) fn colour() -> bool {
    manner().colour()
}

/// How a report is printed on stdout.
pub(crate) fn style() -> Style {
    manner().style()
}

/// How a report is written as text into a file.
pub(crate) fn file_style() -> Style {
    manner().file_style()
}

/// The door for what a command writes beside what it works on and reads, which it never writes to.
pub(crate) fn door<P: AsRef<Path>>(force: bool, kept_out: impl IntoIterator<Item = P>) -> Outputs {
    let mut door = Outputs::new(force, flashscope_report::is_ours);
    let sys = SysRoot::live();
    kept_out.into_iter().for_each(|path| door.keep_out(&sys, path.as_ref()));
    door
}

/// A file that is to be written, looked at before there is anything to lose.
pub(crate) fn plan(door: &mut Outputs, path: &Path) -> Result<Output, Failure> {
    door.plan(path).map_err(target::failure)
}

/// What became of the files of a command: each is written whatever happened to the others.
#[derive(Default)]
pub(crate) struct Saved {
    places: Vec<String>,
    failures: Vec<String>,
}

impl Saved {
    /// Writes a file whole or not at all. Where its place cannot take it, it is kept in the temporary directory, so that nothing
    /// is lost. Whether it is kept somewhere.
    pub(crate) fn add(&mut self, output: &Output, name: &str, content: Result<impl AsRef<[u8]>, Failure>) -> bool {
        let content = match content {
            Ok(content) => content,
            Err(error) => {
                self.failed(format!("cannot write {}: {error}", output.path().display()));
                return false;
            }
        };
        let Err(first) = self.write(output, name, content.as_ref()) else { return true };
        let file = output.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rescue = std::env::temp_dir().join(format!("{}-{file}", std::process::id()));
        let kept = door(false, [output.path()]).plan(&rescue).and_then(|rescue| rescue.write(content.as_ref())).is_ok();
        self.failed(match kept {
            true => format!("{first}; kept in {} instead", rescue.display()),
            false => format!("{first}\nhint: name another place, or pipe --json into a file"),
        });
        kept
    }

    /// Writes a record that was kept in `unfinished` as far as it went, which goes as soon as the whole is safe.
    pub(crate) fn add_whole(&mut self, output: &Output, unfinished: Option<&Output>, record: String) {
        let mut safe = self.write(output, "Record", record.as_bytes()).is_ok();
        if !safe {
            // On a disk that is nearly full it is the part that is in the way of the whole.
            unfinished.into_iter().for_each(Output::remove);
            safe = self.add(output, "Record", Ok(record));
        }
        unfinished.filter(|_| safe).into_iter().for_each(Output::remove);
    }

    fn write(&mut self, output: &Output, name: &str, content: &[u8]) -> Result<(), HostError> {
        output.write(content)?;
        self.places.push(format!("{name}  {}", output.path().display()));
        Ok(())
    }

    /// Something beside the result was lost.
    pub(crate) fn failed(&mut self, why: String) {
        self.failures.push(why);
    }

    /// Says where everything is, after the result was printed; all that went wrong is said.
    pub(crate) fn after(mut self, printed: Result<(), Failure>) -> Result<(), Failure> {
        if !self.places.is_empty() {
            talk(&self.places.join("     "));
        }
        match printed {
            // That nobody reads any more is no failure, but files that are not there are one.
            Err(failure) if self.failures.is_empty() => return Err(failure),
            Err(Failure::ClosedPipe) | Ok(()) => {}
            Err(failure) => self.failed(failure.to_string()),
        }
        if self.failures.is_empty() {
            Ok(())
        } else {
            Err(Failure::Cannot(anyhow!("{}", self.failures.join("\nerror: "))))
        }
    }
}

/// Writes one file, the result of a command that prints none.
pub(crate) fn save(output: &Output, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut saved = Saved::default();
    saved.add(output, name, Ok(content));
    saved.after(Ok(()))
}
