//! The process that mounts what stands on the device and works on it, step by step as it is told.
//!
//! A process of its own, because the one that serves the device's requests must never wait for them: killed in the middle of a request, it would
//! keep itself alive for ever. Lines come in and go out: a command, then whatever it found, then `ok` or `error WHY`.

use super::database::Database;
use flashscope_device::Known;
use flashscope_host::volume::{Volume, live_alone};
use flashscope_integrity::under::{Step, file_text};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Works until the input ends.
pub(crate) fn work(input: impl Read, mut output: impl Write) -> std::io::Result<()> {
    let mut work = Work { volume: None, database: None };
    let mut state = live_alone().map_err(|error| error.to_string());
    for line in BufReader::new(input).lines() {
        let line = line?;
        let answer = state.clone().and_then(|()| work.done(&line));
        match answer {
            Ok(found) => writeln!(output, "{found}ok")?,
            Err(why) => writeln!(output, "error {}", why.replace('\n', " "))?,
        }
        output.flush()?;
        if line == "end" {
            state = Err("it has ended".to_owned());
        }
    }
    Ok(())
}

struct Work {
    volume: Option<Volume>,
    database: Option<Database>,
}

impl Work {
    fn done(&mut self, line: &str) -> Result<String, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = rest.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default().to_owned();
        match word {
            "mount" => {
                let (file_system, device, options) = (next(), next(), next());
                let volume =
                    Volume::mount(Path::new(&device), &file_system, &options).map_err(|error| error.to_string())?;
                self.volume = Some(volume);
            }
            "open" => {
                let (program, pragmas) = (PathBuf::from(next()), next());
                let file = self.volume()?.path(Database::FILE);
                self.database = Some(Database::open(&program, &file, &pragmas)?);
            }
            "look" => return self.look(Known { first: number(&next())?, last: number(&next())? }),
            "end" => {
                if let Some(database) = self.database.take() {
                    database.close()?;
                }
                if let Some(volume) = self.volume.take() {
                    volume.unmount().map_err(|error| error.to_string())?;
                }
            }
            _ => self.step(&line.parse().map_err(|_| format!("'{line}' is no step"))?)?,
        }
        Ok(String::new())
    }

    fn volume(&self) -> Result<&Volume, String> {
        self.volume.as_ref().ok_or_else(|| "nothing is mounted".to_owned())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Some(database) = &mut self.database {
            return database.step(step);
        }
        let volume = self.volume()?;
        let done = match step {
            Step::Create { name, length, generation } => volume.create(name, *length, *generation, true),
            Step::Loose { name, length, generation } => volume.create(name, *length, *generation, false),
            Step::Write { name, at, length, generation } => volume.write(name, *at, *length, *generation),
            Step::Replace { name, length, generation } => {
                volume.replace(name, &Step::beside(name), *length, *generation)
            }
            Step::Rename { name, to } => volume.rename(name, to),
            Step::Remove { name } => volume.remove(name),
            Step::Commit { .. } | Step::Begin { .. } => return Err("no database is open".to_owned()),
        };
        done.map_err(|error| error.to_string())
    }

    fn look(&mut self, known: Known) -> Result<String, String> {
        if let Some(database) = &mut self.database {
            return database.look();
        }
        let files = self.volume()?.look(known).map_err(|error| error.to_string())?;
        Ok(files.iter().map(file_text).collect())
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("'{word}' is no number"))
}
