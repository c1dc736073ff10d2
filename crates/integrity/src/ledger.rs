//! The journal of a cut outside the device, as text: what stood there before its first write, what was asked for, what was
//! acknowledged. It is written as it comes, so that a run that was killed can be judged ([`crate::judge_kept`]). Pure: whoever has a
//! file writes the lines.
//!
//! A line each: `cut NUMBER`, then for what stood there `holds LENGTH tag GENERATION ADDRESSED`, `holds LENGTH byte BYTE` or `holds
//! LENGTH foreign`; `write TURN AT LENGTH GENERATION durable|plain`, `flush TURN`, `done TURN-OF-THE-REQUEST TURN NANOSECONDS`; `off` where the power
//! was about to go.

use crate::journal::{Done, Flush, Journal, Write};
use crate::judge::Map;
use flashscope_device::{Holds, Stretch};
use flashscope_units::{Bytes, Instant};
use std::fmt;
use std::str::{FromStr, SplitWhitespace};

/// What a journal begins with; the number is that of the format.
pub const MAGIC: &str = "flashscope integrity journal 1";

/// Keeps what happens before a cut outside the device.
pub trait Ledger {
    /// A cut begins, and this stands on the range: all that was kept of the cut before is of no use any more.
    ///
    /// # Errors
    /// It cannot be kept; the run ends.
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String>;
    /// Something was asked for, or acknowledged. A request is noted before it is issued.
    ///
    /// # Errors
    /// As [`Ledger::begin`].
    fn note(&mut self, entry: &Entry) -> Result<(), String>;
    /// The power is about to go: when this returns, what was noted survives that of everything else, too.
    ///
    /// # Errors
    /// As [`Ledger::begin`].
    fn secure(&mut self) -> Result<(), String>;
}

/// Nothing is kept: the device is simulated, and gone with this program.
impl Ledger for () {
    fn begin(&mut self, _: u32, _: &Map) -> Result<(), String> {
        Ok(())
    }

    fn note(&mut self, _: &Entry) -> Result<(), String> {
        Ok(())
    }

    fn secure(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Two of them, the first one first.
impl<A: Ledger, B: Ledger> Ledger for (A, B) {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        self.0.begin(number, before)?;
        self.1.begin(number, before)
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        self.0.note(entry)?;
        self.1.note(entry)
    }

    fn secure(&mut self) -> Result<(), String> {
        self.0.secure()?;
        self.1.secure()
    }
}

/// One that may be absent.
impl<A: Ledger> Ledger for Option<A> {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        self.as_mut().map_or(Ok(()), |one| one.begin(number, before))
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        self.as_mut().map_or(Ok(()), |one| one.note(entry))
    }

    fn secure(&mut self) -> Result<(), String> {
        self.as_mut().map_or(Ok(()), Ledger::secure)
    }
}

/// Another one, lent.
impl<A: Ledger + ?Sized> Ledger for &mut A {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        (**self).begin(number, before)
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        (**self).note(entry)
    }

    fn secure(&mut self) -> Result<(), String> {
        (**self).secure()
    }
}

/// Something that happens before a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A write is issued.
    Write(Write),
    /// A flush is issued.
    Flush {
        /// Its turn.
        turn: u32,
    },
    /// A request was acknowledged.
    Done {
        /// The turn in which it was issued.
        of: u32,
        /// When.
        done: Done,
    },
    /// The power is about to go.
    Off,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Write(Write { at, length, generation, turn, durable, .. }) => {
                let kind = if *durable { "durable" } else { "plain" };
                writeln!(f, "write {turn} {} {} {generation} {kind}", at.get(), length.get())
            }
            Entry::Flush { turn } => writeln!(f, "flush {turn}"),
            Entry::Done { of, done } => writeln!(f, "done {of} {} {}", done.turn, done.at.0),
            Entry::Off => writeln!(f, "off"),
        }
    }
}

/// What a journal is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// What names the device.
    pub identity: String,
    /// Its size.
    pub capacity: Bytes,
    /// Where the writes go.
    pub offset: Bytes,
    /// Over so much.
    pub length: Bytes,
    /// What the first write of the run carries.
    pub generation: u32,
    /// What the requests follow from.
    pub seed: u64,
    /// What the kernel calls this start of the machine.
    pub boot: String,
    /// What stands on the device, where something does: then the journal holds steps on that ([`crate::under::Step`]).
    pub under: Option<String>,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Head { identity, capacity, offset, length, generation, seed, boot, under } = self;
        writeln!(f, "{MAGIC}\nidentity {identity}\ncapacity {}", capacity.get())?;
        writeln!(f, "range {} {}\ngeneration {generation}\nseed {seed}\nboot {boot}", offset.get(), length.get())?;
        under.iter().try_for_each(|under| writeln!(f, "under {under}"))
    }
}

/// The beginning of a cut's part, as text.
pub fn cut_text(number: u32, before: &Map) -> String {
    format!("cut {number}\n") + &before.stretches().iter().map(stretch_text).collect::<String>()
}

/// A stretch as a line.
pub(crate) fn stretch_text(one: &Stretch) -> String {
    let length = one.length.get();
    match one.holds {
        Holds::Tagged { generation, addressed } => format!("holds {length} tag {generation} {}\n", addressed.get()),
        Holds::Uniform(byte) => format!("holds {length} byte {byte}\n"),
        Holds::Foreign => format!("holds {length} foreign\n"),
    }
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What it is about.
    pub head: Head,
    /// Number of the cut.
    pub number: u32,
    /// What stood there before the first write.
    pub before: Map,
    /// What was asked for and acknowledged.
    pub journal: Journal,
    /// Whether the power was about to go when it ends.
    pub is_off: bool,
}

impl Kept {
    /// Reads a journal. A last line without an end is what a kill leaves, and is passed over.
    ///
    /// # Errors
    /// It is no journal, or not whole: the number of the line that makes no sense.
    pub fn parse(text: &str) -> Result<Kept, String> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(MAGIC) {
            return Err("it does not begin like a journal of this version".to_owned());
        }
        let mut rest = Vec::new();
        let mut reader = Reader::default();
        for (number, line) in lines {
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "under" => {
                    return Err(format!(
                        "it is of a run under {value}: the device was that file system's to write, so that mounting it and looking is what is left"
                    ));
                }
                "identity" | "boot" => rest.push((word, value.to_owned())),
                _ => reader.line(word, value).ok_or_else(|| format!("line {} makes no sense", number + 1))?,
            }
        }
        reader.kept(rest).ok_or_else(|| "it is not whole: no cut had begun".to_owned())
    }
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    capacity: Option<u64>,
    range: Option<(u64, u64)>,
    generation: Option<u32>,
    seed: Option<u64>,
    number: Option<u32>,
    stretches: Vec<Stretch>,
    journal: Journal,
    is_off: bool,
}

impl Reader {
    fn line(&mut self, word: &str, value: &str) -> Option<()> {
        let mut words = value.split_whitespace();
        match word {
            "capacity" => self.capacity = Some(next(&mut words)?),
            "range" => self.range = Some((next(&mut words)?, next(&mut words)?)),
            "generation" => self.generation = Some(next(&mut words)?),
            "seed" => self.seed = Some(next(&mut words)?),
            "cut" => self.number = Some(next(&mut words)?),
            "holds" => self.stretches.push(stretch(&mut words)?),
            "write" => {
                let turn = next(&mut words)?;
                let (at, length) = (Bytes(next(&mut words)?), Bytes(next(&mut words)?));
                at.get().checked_add(length.get())?;
                let (generation, durable) = (next(&mut words)?, words.next()? == "durable");
                self.journal.writes.push(Write { at, length, generation, turn, done: None, durable });
            }
            "flush" => {
                let turn = next(&mut words)?;
                self.journal.flushes.push(Flush { turn, done: None, covers: Bytes::ZERO });
            }
            "done" => {
                let of: u32 = next(&mut words)?;
                let done = Done { turn: next(&mut words)?, at: Instant(next(&mut words)?) };
                let write = self.journal.writes.iter_mut().rev().find(|write| write.turn == of);
                let flush = self.journal.flushes.iter_mut().rev().find(|flush| flush.turn == of);
                *write.map(|write| &mut write.done).or(flush.map(|flush| &mut flush.done))? = Some(done);
            }
            "off" => self.is_off = true,
            _ => return None,
        }
        words.next().is_none().then_some(())
    }

    fn kept(self, rest: Vec<(&str, String)>) -> Option<Kept> {
        let of = |name: &str| rest.iter().find(|(word, _)| *word == name).map(|(_, value)| value.clone());
        let (offset, length) = self.range.map(|(offset, length)| (Bytes(offset), Bytes(length)))?;
        offset.get().checked_add(length.get())?;
        let head = Head {
            identity: of("identity")?,
            capacity: Bytes(self.capacity?),
            offset,
            length,
            generation: self.generation?,
            seed: self.seed?,
            boot: of("boot")?,
            under: None,
        };
        let sum = self.stretches.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.length.get()));
        let before = (sum == Some(length.get())).then(|| Map::new(offset, self.stretches))?;
        Some(Kept { head, number: self.number?, before, journal: self.journal, is_off: self.is_off })
    }
}

pub(crate) fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

pub(crate) fn stretch(words: &mut SplitWhitespace<'_>) -> Option<Stretch> {
    let length = Bytes(next(words)?);
    let holds = match words.next()? {
        "tag" => Holds::Tagged { generation: next(words)?, addressed: Bytes(next(words)?) },
        "byte" => Holds::Uniform(next(words)?),
        "foreign" => Holds::Foreign,
        _ => return None,
    };
    Some(Stretch { length, holds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            identity: "loop:/tmp/a b/disk".to_owned(),
            capacity: Bytes::gib(1),
            offset: Bytes::mib(512),
            length: Bytes::kib(8),
            generation: 77,
            seed: 5,
            boot: "b-1".to_owned(),
            under: None,
        }
    }

    fn text() -> (String, Kept) {
        let start = Bytes::mib(512);
        let stretches = vec![
            Stretch { length: Bytes::kib(4), holds: Holds::Tagged { generation: 77, addressed: start } },
            Stretch { length: Bytes::SECTOR, holds: Holds::Uniform(255) },
            Stretch { length: Bytes(3584), holds: Holds::Foreign },
        ];
        let before = Map::new(start, stretches);
        let done = Done { turn: 4, at: Instant(9) };
        let write = Write { at: start, length: Bytes::kib(4), generation: 78, turn: 2, done: None, durable: true };
        let entries = [Entry::Write(write), Entry::Flush { turn: 3 }, Entry::Done { of: 2, done }, Entry::Off];
        let text = head().to_string() + &cut_text(6, &before) + &entries.map(|entry| entry.to_string()).concat();
        let flush = Flush { turn: 3, done: None, covers: Bytes::ZERO };
        let journal = Journal { writes: vec![Write { done: Some(done), ..write }], flushes: vec![flush] };
        (text, Kept { head: head(), number: 6, before, journal, is_off: true })
    }

    #[test]
    fn what_was_kept_comes_back_however_short_the_last_line_is() {
        let (text, kept) = text();
        assert_eq!(Kept::parse(&text), Ok(kept.clone()));
        let cut_off = &text[..text.len() - 2];
        assert_eq!(Kept::parse(cut_off), Ok(Kept { is_off: false, ..kept }));
    }

    #[test]
    fn what_is_no_journal_is_told() {
        let (text, _) = text();
        let check = |text: &str, says: &str| {
            let said = Kept::parse(text).unwrap_err();
            assert!(said.contains(says), "{said}");
        };
        check("", "does not begin");
        check("{\"kind\": \"integrity\"}\n", "does not begin");
        check(&head().to_string(), "no cut had begun");
        check(&Head { under: Some("ext4".to_owned()), ..head() }.to_string(), "of a run under ext4");
        check(&text.replace("flush 3", "flush three"), "line 13 makes no sense");
        check(&text.replace("done 2", "done 99"), "makes no sense");
        check(&text.replace("holds 512", "holds 1024"), "not whole");
        check(&text.replace("range 536870912", "range 18446744073709551615"), "not whole");
    }
}
