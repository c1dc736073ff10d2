//! The programs beside this one, which hold what would make it too large. It starts them itself.

use crate::error::Failure;
use anyhow::anyhow;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

/// One of them.
pub(crate) struct Program {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// The folder of its crate below `crates`.
    pub(crate) folder: &'static str,
    /// What it does, behind "which".
    pub(crate) does: &'static str,
}

impl Program {
    /// Where it has to lie.
    ///
    /// # Errors
    /// This program cannot tell where it lies itself.
    pub(crate) fn place(&self) -> Result<PathBuf, Failure> {
        let own = std::env::current_exe();
        let own = own.map_err(|error| anyhow!("cannot tell where this program lies: {error}"))?;
        Ok(own.with_file_name(self.name))
    }

    /// Where it lies.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn found(&self) -> Result<PathBuf, Failure> {
        let place = self.place()?;
        if place.exists() { Ok(place) } else { Err(self.missing(&place.display().to_string())) }
    }

    /// It is not in its place, and how to get it.
    pub(crate) fn missing(&self, place: &str) -> Failure {
        let Program { folder, does, .. } = self;
        Failure::Cannot(anyhow!(
            "there is no {place}, which {does}\nhint: build it with `cargo build --release -p flashscope-{folder}`, or, \
             where this program came by `cargo install`, with `cargo install --path crates/{folder}`; packages hold it"
        ))
    }

    /// Starts it, with a pipe for all that it is told and says.
    ///
    /// # Errors
    /// It is not there, or does not start.
    pub(crate) fn start(&self) -> Result<Child, Failure> {
        let place = self.found()?;
        let mut command = Command::new(&place);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for this program, which has it stop in good order.
        command.process_group(0);
        command.spawn().map_err(|error| Failure::Cannot(anyhow!("cannot start {}: {error}", place.display())))
    }

    /// What a started one says, line by line until it ends, as `read` understands it; `odd` makes a line of why it does not.
    pub(crate) fn lines<L: Send + 'static>(
        &self,
        child: &mut Child,
        read: fn(&str) -> Option<L>,
        odd: fn(String) -> L,
    ) -> Receiver<L> {
        let stdout = BufReader::new(child.stdout.take().expect("its stdout is a pipe"));
        let name = self.name;
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = stdout
                .lines()
                .map_while(Result::ok)
                .map(|line| read(&line).unwrap_or_else(|| odd(format!("{name} said what is not understood: {line}"))));
            lines.into_iter().try_for_each(|line| tell.send(line))
        });
        told
    }

    /// Waits for one that has nothing more to say, and tells how it ended.
    pub(crate) fn last_words(&self, child: &mut Child) -> String {
        let mut words = String::new();
        let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut words));
        match child.wait() {
            Ok(status) => format!("{} ended with {status}: {}", self.name, words.trim()),
            Err(error) => format!("cannot wait for {}: {error}", self.name),
        }
    }
}
