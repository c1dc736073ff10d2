//! A record on its way in: what is known of it, and how it is kept.

use crate::figures::{self, Readings};
use crate::{Kept, StoreError};
use flashscope_model::Envelope;
use flashscope_model::comparison::Better;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use rusqlite::{OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::panic::resume_unwind;

/// Records that one thread reads at least: below that, the start of a thread costs more than it saves.
const FEWEST: usize = 32;

/// A record that is ready to be kept: what it says, and its text compressed.
pub(crate) type Ready<'a> = Result<(Incoming<'a>, Vec<u8>), StoreError>;

/// Reads and compresses records on all processors, which is most of the work of keeping them.
pub(crate) fn read_all<T: AsRef<str> + Sync>(texts: &[T]) -> Vec<Ready<'_>> {
    fn read<T: AsRef<str>>(texts: &[T]) -> Vec<Ready<'_>> {
        let texts = texts.iter().map(AsRef::as_ref);
        texts.map(|text| Ok((Incoming::read(text)?, deflated(text)))).collect()
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = texts.len().div_ceil(threads).max(FEWEST);
    if texts.len() <= share {
        return read(texts);
    }
    std::thread::scope(|scope| {
        let readers: Vec<_> = texts.chunks(share).map(|some| scope.spawn(move || read(some))).collect();
        let all = readers.into_iter().flat_map(|reader| reader.join().unwrap_or_else(|why| resume_unwind(why)));
        all.collect()
    })
}

/// A record that was understood.
pub(crate) struct Incoming<'a> {
    text: &'a str,
    envelope: Envelope,
    readings: Readings,
}

impl<'a> Incoming<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Incoming<'a>, StoreError> {
        let record = flashscope_record::read(text).map_err(|error| StoreError::NotARecord(error.to_string()))?;
        Ok(Incoming { text, envelope: record.envelope().clone(), readings: figures::of(&record) })
    }

    /// Keeps it with its text, which was compressed before.
    pub(crate) fn keep(&self, deflated: &[u8], transaction: &Transaction<'_>) -> rusqlite::Result<Kept> {
        let digest = Sha256::digest(self.text.as_bytes());
        let known = transaction
            .prepare_cached("SELECT id FROM record WHERE digest = ?1")?
            .query_row([digest.as_slice()], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(Kept::Already(id));
        }
        let envelope = &self.envelope;
        let identity = envelope.device.as_ref().and_then(|device| device.identity.as_ref());
        let part = identity.map_or(&envelope.target, |identity| &identity.0);
        transaction
            .prepare_cached(
                "INSERT INTO record (at, measured, kind, command, target, device, part, version, bytes, digest)
                 VALUES (coalesce(unixepoch(?1), unixepoch('now')), unixepoch(?1) IS NOT NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                envelope.started,
                envelope.kind.word(),
                envelope.command,
                envelope.target,
                envelope.subject(),
                part,
                envelope.tool.version,
                self.text.len() as i64,
                digest.as_slice(),
            ])?;
        let id = transaction.last_insert_rowid();
        transaction
            .prepare_cached("INSERT INTO body (record, deflated) VALUES (?1, ?2)")?
            .execute(params![id, deflated])?;
        self.index(transaction, id)?;
        Ok(Kept::New(id))
    }

    /// Puts its figures where they can be asked for.
    fn index(&self, transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO setup (text) VALUES (?1)")?
            .execute([&self.readings.setup])?;
        transaction
            .prepare_cached("UPDATE record SET setup = (SELECT id FROM setup WHERE text = ?1) WHERE id = ?2")?
            .execute(params![self.readings.setup, id])?;
        let mut name = transaction
            .prepare_cached("INSERT OR IGNORE INTO figure (name, unit, higher_is_better) VALUES (?1, ?2, ?3)")?;
        let mut insert = transaction.prepare_cached(
            "INSERT INTO reading (figure, record, value, runs, spread)
             SELECT id, ?4, ?5, ?6, ?7 FROM figure WHERE name = ?1 AND unit = ?2 AND higher_is_better = ?3",
        )?;
        for reading in &self.readings.figures {
            let metric = &reading.metric;
            let higher = metric.better == Better::Higher;
            name.execute(params![metric.name, metric.unit, higher])?;
            insert.execute(params![
                metric.name,
                metric.unit,
                higher,
                id,
                reading.value,
                reading.runs,
                reading.spread
            ])?;
        }
        Ok(())
    }
}

/// Figures of all records that are there, from the records themselves.
pub(crate) fn index_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut all =
        transaction.prepare("SELECT body.record, deflated, bytes FROM body JOIN record ON record.id = body.record")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let (id, deflated, bytes): (i64, Vec<u8>, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // What cannot be read any more is still kept, without figures.
        let Some(text) = inflated(&deflated, bytes) else { continue };
        if let Ok(incoming) = Incoming::read(&text) {
            incoming.index(transaction, id)?;
        }
    }
    Ok(())
}

fn deflated(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = DeflateEncoder::new(text.as_bytes(), Compression::default());
    encoder.read_to_end(&mut bytes).expect("memory can be read and written");
    bytes
}

/// `None` where it is not a text of this length.
pub(crate) fn inflated(deflated: &[u8], bytes: i64) -> Option<String> {
    let mut text = String::new();
    // One byte more than is wanted tells a text that is too long, without reading all of it.
    let wanted = u64::try_from(bytes).ok()?;
    DeflateDecoder::new(deflated).take(wanted.checked_add(1)?).read_to_string(&mut text).ok()?;
    (text.len() as u64 == wanted).then_some(text)
}
