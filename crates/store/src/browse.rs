//! A history page by page: every question here is answered from an index, so that the millionth record costs what the first one
//! does, and never more than a page is held in memory.

use crate::ask::metric;
use crate::store::{COLUMNS, entry};
use crate::{Entry, Point, Series, Store, StoreError};
use flashscope_model::Kind;
use rusqlite::{OptionalExtension, Row, ToSql, params};

/// Names that a search follows at once, of each column.
const NAMES: usize = 8;

/// Where a record stands in the order of time: seconds since 1970, then its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Its time, in seconds since 1970.
    pub at: i64,
    /// Its number.
    pub id: i64,
}

/// From where a page goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// The newest.
    #[default]
    Newest,
    /// Those that are older than this one.
    OlderThan(Cursor),
    /// Those that are newer than this one.
    NewerThan(Cursor),
    /// The oldest.
    Oldest,
}

/// What a page is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Of devices, parts or targets whose name begins so, whatever the case of its letters; empty means all.
    pub begins: String,
    /// Of the part of exactly this name, instead.
    pub part: Option<String>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Where it begins.
    pub from: From,
}

/// A page of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Newest first.
    pub entries: Vec<(Cursor, Entry)>,
    /// Whether there are newer ones.
    pub newer: bool,
    /// Whether there are older ones.
    pub older: bool,
    /// Whether more names begin as was asked than a search follows.
    pub more_names: bool,
}

/// What is kept of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name: what it says of itself, else what was typed.
    pub part: String,
    /// How many records there are of it.
    pub records: i64,
    /// The newest of them.
    pub newest: Entry,
    /// The time of the oldest one, RFC 3339 in UTC.
    pub since: String,
}

/// A column with names, and the index on it, which passes over the case of letters.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    index: &'static str,
}

const COLUMNS_OF_NAMES: [Column; 3] = [
    Column { name: "device", index: "record_of_device" },
    Column { name: "part", index: "record_of_part" },
    Column { name: "target", index: "record_of_target" },
];

impl Store {
    /// A page of at most `most` records.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn page(&self, search: &Search, most: usize) -> Result<Page, StoreError> {
        self.all(|| {
            let mut more_names = false;
            let mut entries: Vec<(Cursor, Entry)> = Vec::new();
            if let Some(part) = &search.part {
                let meant = Meant { index: "record_by_part", condition: "part = ?5", name: Some(part) };
                entries = self.stretch(&meant, search, most)?;
            } else if search.begins.is_empty() {
                let index = if search.kind.is_some() { "record_by_kind" } else { "record_by_time" };
                entries = self.stretch(&Meant { index, condition: "?5 IS NULL", name: None }, search, most)?;
            } else {
                for column in COLUMNS_OF_NAMES {
                    let names = self.names(column, &search.begins)?;
                    more_names |= names.len() > NAMES;
                    let condition = format!("{} = ?5 COLLATE NOCASE", column.name);
                    for name in names.iter().take(NAMES) {
                        let meant = Meant { index: column.index, condition: &condition, name: Some(name) };
                        entries.extend(self.stretch(&meant, search, most)?);
                    }
                }
            }
            Ok(paged(entries, search.from, most, more_names))
        })
    }

    /// One record more than a page holds, of those that are meant, from where the page begins.
    fn stretch(&self, meant: &Meant<'_>, search: &Search, most: usize) -> rusqlite::Result<Vec<(Cursor, Entry)>> {
        let (order, cursor, beyond) = match search.from {
            From::Newest => ("DESC", None, "?1 IS NULL AND ?2 IS NULL"),
            From::OlderThan(cursor) => ("DESC", Some(cursor), "(at, id) < (?1, ?2)"),
            From::NewerThan(cursor) => ("ASC", Some(cursor), "(at, id) > (?1, ?2)"),
            From::Oldest => ("ASC", None, "?1 IS NULL AND ?2 IS NULL"),
        };
        let Meant { index, condition, name } = meant;
        let of_kind = if search.kind.is_some() { "kind = ?3" } else { "?3 IS NULL" };
        let sql = format!(
            "SELECT {COLUMNS}, at FROM record INDEXED BY {index} WHERE {condition} AND {of_kind} AND {beyond}
             ORDER BY at {order}, id {order} LIMIT ?4"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let limit = most as i64 + 1;
        let (at, id, kind) = (cursor.map(|c| c.at), cursor.map(|c| c.id), search.kind.map(Kind::word));
        let values: [&dyn ToSql; 5] = [&at, &id, &kind, &limit, name];
        let rows = statement.query_map(values, with_cursor)?;
        rows.collect()
    }

    /// The names of a column that begin so, one more than a search follows: a step in the index for each.
    fn names(&self, column: Column, begins: &str) -> rusqlite::Result<Vec<String>> {
        let Column { name, index } = column;
        let sql = |first: bool| {
            let from = if first { ">=" } else { ">" };
            format!(
                "SELECT {name} FROM record INDEXED BY {index} WHERE {name} {from} ?1 COLLATE NOCASE
                 ORDER BY {name} COLLATE NOCASE LIMIT 1"
            )
        };
        let mut found: Vec<String> = Vec::new();
        let wanted = begins.to_ascii_lowercase();
        while found.len() <= NAMES {
            let mut statement = self.connection.prepare_cached(&sql(found.is_empty()))?;
            let after = found.last().map_or(begins, String::as_str);
            let next: Option<String> = statement.query_row([after], |row| row.get(0)).optional()?;
            match next.filter(|next| next.to_ascii_lowercase().starts_with(&wanted)) {
                Some(next) => found.push(next),
                None => break,
            }
        }
        Ok(found)
    }

    /// Parts in the order of their names, after this one, at most `most`.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn parts(&self, after: Option<&str>, most: usize) -> Result<Vec<Part>, StoreError> {
        self.all(|| {
            let mut found: Vec<Part> = Vec::new();
            while found.len() < most {
                let sql = "SELECT part FROM record INDEXED BY record_by_part WHERE ?1 IS NULL OR part > ?1
                           ORDER BY part LIMIT 1";
                let after_it =
                    "SELECT part FROM record INDEXED BY record_by_part WHERE part > ?1 ORDER BY part LIMIT 1";
                let before = found.last().map(|part| part.part.as_str()).or(after);
                let mut statement = self.connection.prepare_cached(if before.is_none() { sql } else { after_it })?;
                let next: Option<String> = statement.query_row([before], |row| row.get(0)).optional()?;
                match next {
                    Some(name) => found.extend(self.summary(&name)?),
                    None => break,
                }
            }
            Ok(found)
        })
    }

    /// What is kept of one part; `None` where there is nothing of it.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn part(&self, name: &str) -> Result<Option<Part>, StoreError> {
        self.all(|| self.summary(name))
    }

    fn summary(&self, name: &str) -> rusqlite::Result<Option<Part>> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE part = ?1 ORDER BY at DESC, id DESC LIMIT 1");
        let newest = self.connection.prepare_cached(&sql)?.query_row([name], entry).optional()?;
        let sql = "SELECT count(*), strftime('%Y-%m-%dT%H:%M:%SZ', min(at), 'unixepoch') FROM record WHERE part = ?1";
        let Some(newest) = newest else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row([name], |row| {
            Ok(Some(Part { part: name.to_owned(), records: row.get(0)?, newest, since: row.get(1)? }))
        })
    }

    /// What stands of one record in a list.
    ///
    /// # Errors
    /// Where there is none, or the file cannot be read.
    pub fn entry(&self, id: i64) -> Result<Entry, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE id = ?1");
        let found = self.all(|| self.connection.prepare_cached(&sql)?.query_row([id], entry).optional())?;
        found.ok_or(StoreError::NoRecord(id))
    }

    /// How many records there are, and the highest number that one has; numbers are not given again, so that a higher one tells
    /// that something came.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn size(&self) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT (SELECT count(*) FROM record), (SELECT coalesce(max(id), 0) FROM record)";
        self.all(|| self.connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))))
    }

    /// The names of all figures, in the order of the alphabet.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn figure_names(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT name FROM figure ORDER BY name";
        self.all(|| {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// Figures of a part over time, those of its newest records, at most `most` of them: each figure and setup a series, in the
    /// order of time. All figures, or the one that is named.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn series_of_part(&self, part: &str, figure: Option<&str>, most: usize) -> Result<Vec<Series>, StoreError> {
        // The newest records of the part first, then what each of them says: no reading of another part is looked at.
        let sql = "WITH newest AS MATERIALIZED
                       (SELECT id, at, device, setup FROM record WHERE part = ?1 ORDER BY at DESC, id DESC LIMIT ?2)
             SELECT figure.name, figure.unit, higher_is_better, newest.id,
                    strftime('%Y-%m-%dT%H:%M:%SZ', at, 'unixepoch'), value, spread, newest.device, setup.text
             FROM newest CROSS JOIN reading INDEXED BY reading_by_record ON reading.record = newest.id
             CROSS JOIN figure ON figure.id = reading.figure LEFT JOIN setup ON setup.id = newest.setup
             WHERE ?3 IS NULL OR figure.name = ?3
             ORDER BY figure.name, figure.id, newest.setup, at, newest.id";
        self.all(|| {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![part, most as i64, figure])?;
            let mut found: Vec<Series> = Vec::new();
            while let Some(row) = rows.next()? {
                let metric = metric(row, 0)?;
                let setup = row.get::<_, Option<String>>(8)?.unwrap_or_default();
                let point = Point { record: row.get(3)?, at: row.get(4)?, value: row.get(5)?, spread: row.get(6)? };
                match found.last_mut().filter(|last| last.metric == metric && last.setup == setup) {
                    Some(last) => last.points.push(point),
                    None => {
                        let (part, device) = (part.to_owned(), row.get(7)?);
                        found.push(Series { metric, part, device, setup, points: vec![point] });
                    }
                }
            }
            Ok(found)
        })
    }

    fn all<T>(&self, ask: impl FnOnce() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        ask().map_err(|error| StoreError::of(&self.path, error))
    }
}

/// Which records a stretch is of, and the index that finds them.
struct Meant<'a> {
    index: &'a str,
    condition: &'a str,
    name: Option<&'a String>,
}

fn with_cursor(row: &Row<'_>) -> rusqlite::Result<(Cursor, Entry)> {
    let entry = entry(row)?;
    Ok((Cursor { at: row.get(10)?, id: entry.id }, entry))
}

/// A page of what was found for it, of which a record may have been found by several of its names.
fn paged(mut entries: Vec<(Cursor, Entry)>, from: From, most: usize, more_names: bool) -> Page {
    let forwards = matches!(from, From::NewerThan(_) | From::Oldest);
    entries.sort_by_key(|(cursor, _)| *cursor);
    if !forwards {
        entries.reverse();
    }
    entries.dedup_by_key(|(cursor, _)| cursor.id);
    let more = entries.len() > most;
    entries.truncate(most);
    let (newer, older) = match from {
        From::Newest => (false, more),
        From::OlderThan(_) => (true, more),
        From::NewerThan(_) => (more, true),
        From::Oldest => (more, false),
    };
    if forwards {
        entries.reverse();
    }
    Page { entries, newer, older, more_names }
}
