//! A log of every answer: what was asked, when it came, when the device had it done, and when the answer went out.
//!
//! One line per answer, in the order in which they went out. A thread of its own writes, so that no answer waits for a file;
//! between two writes [`ROOM`] entries have room, and what comes beyond is counted and said at the end.

use crate::journal::Operation;
use flashscope_units::Instant;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Entries that wait to be written, at most: twice 3 MiB in all.
const ROOM: usize = 1 << 16;
/// How often they are written.
const EVERY: Duration = Duration::from_millis(100);
/// The first line. Times are nanoseconds of the real clock since the emulation began.
const HEAD: &str = "arrived_ns,done_ns,answered_ns,kind,offset_bytes,length_bytes,failed";

/// What was asked, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) operation: Operation,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// When it reached the emulator.
    pub(crate) arrived: Instant,
    /// When the device has it done, before the way back is taken off; absent where nothing is paced.
    pub(crate) done: Option<Instant>,
}

/// The log, open.
#[derive(Debug)]
pub(crate) struct Log {
    waiting: Arc<Waiting>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Mutex<Batch>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Batch {
    entries: Vec<Entry>,
    dropped: u64,
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    served: Served,
    answered: Instant,
    failed: bool,
}

impl Log {
    /// A new log in an empty file.
    ///
    /// # Errors
    /// Of the file.
    pub(crate) fn create(file: File) -> io::Result<Log> {
        let mut file = BufWriter::new(file);
        writeln!(file, "{HEAD}")?;
        let waiting = Arc::new(Waiting::default());
        waiting.batch().entries.reserve_exact(ROOM);
        let for_writer = Arc::clone(&waiting);
        let writer = std::thread::Builder::new().name("log".to_owned()).spawn(move || for_writer.write_to(file))?;
        Ok(Log { waiting, writer: Mutex::new(Some(writer)) })
    }

    /// An answer goes out.
    pub(crate) fn add(&self, served: Served, answered: Instant, failed: bool) {
        let mut batch = self.waiting.batch();
        match batch.entries.len() < ROOM {
            true => batch.entries.push(Entry { served, answered, failed }),
            false => batch.dropped += 1,
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Of the file, whenever it happened.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.waiting.batch().ended = true;
        self.waiting.ended.notify_one();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.map_or(Ok(()), |writer| writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

impl Waiting {
    fn write_to(&self, mut file: BufWriter<File>) -> io::Result<()> {
        let mut mine: Vec<Entry> = Vec::with_capacity(ROOM);
        loop {
            let batch = self.batch();
            let (mut batch, _) = self
                .ended
                .wait_timeout_while(batch, EVERY, |batch| !batch.ended)
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut mine, &mut batch.entries);
            let (ended, dropped) = (batch.ended, batch.dropped);
            drop(batch);
            mine.drain(..).try_for_each(|entry| entry.write(&mut file))?;
            file.flush()?;
            if ended {
                return if dropped > 0 {
                    writeln!(file, "# {dropped} more had no room").and(file.flush())
                } else {
                    Ok(())
                };
            }
        }
    }

    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn write(&self, into: &mut impl Write) -> io::Result<()> {
        let Served { operation, offset, length, arrived, done } = self.served;
        let kind = match operation {
            Operation::Read => "read",
            Operation::Write { durable: false } => "write",
            Operation::Write { durable: true } => "durable-write",
            Operation::Flush => "flush",
            Operation::Discard => "discard",
            Operation::PowerOn => "power-on",
            Operation::PowerCut => "power-cut",
        };
        let done = done.map_or(String::new(), |done| done.0.to_string());
        let (answered, failed) = (self.answered.0, u8::from(self.failed));
        writeln!(into, "{},{done},{answered},{kind},{offset},{length},{failed}", arrived.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(offset: u64) -> Served {
        Served { operation: Operation::Read, offset, length: 512, arrived: Instant(5), done: Some(Instant(9)) }
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let path = std::env::temp_dir().join(format!("flashscope-log-{}", std::process::id()));
        let log = Log::create(File::create(&path).unwrap()).unwrap();
        {
            // Nobody writes meanwhile.
            let mut batch = log.waiting.batch();
            let entry = Entry { served: served(0), answered: Instant(7), failed: true };
            batch.entries.extend(std::iter::repeat_n(entry, ROOM));
            drop(batch);
        }
        (0..3).for_each(|at| log.add(served(at), Instant(8), false));
        log.close().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], [HEAD, "5,9,7,read,0,512,1"]);
        // The writer may have come between.
        let kept = lines.iter().filter(|line| line.contains(",read,")).count();
        let dropped =
            lines.last().and_then(|line| line.strip_prefix("# ")?.split(' ').next()?.parse().ok()).unwrap_or(0);
        assert_eq!(kept + dropped, ROOM + 3);
    }
}
