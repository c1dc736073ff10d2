//! What a history says of figures.

use crate::dataset::{self, Key};
use crate::incoming::inflated;
use crate::kept::Body;
use crate::store::{COLUMNS, MEANT, entry};
use crate::{Figure, Filter, Point, Row, Series, Store, StoreError};
use flashscope_model::comparison::{Better, Metric};
use rusqlite::{Transaction, params};

impl Store {
    /// The figures that there are, those of most records first.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn figures(&self) -> Result<Vec<Figure>, StoreError> {
        let sql = "SELECT name, unit, higher_is_better, count(*) FROM figure JOIN reading ON figure = figure.id
                   GROUP BY figure.id ORDER BY count(*) DESC, name";
        let all = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| Ok(Figure { metric: metric(row, 0)?, records: row.get(3)? }))?;
            rows.collect::<rusqlite::Result<Vec<Figure>>>()
        };
        all().map_err(|error| StoreError::of(&self.path, error))
    }

    /// A figure over time, apart for each part and each setup; those with most points first.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn series(&self, figure: &str, filter: &Filter) -> Result<Vec<Series>, StoreError> {
        // In this order of tables: the readings of a figure lie side by side.
        let sql = format!(
            "SELECT figure.name, figure.unit, higher_is_better, record.part, record.device, setup.text, record.id,
                    strftime('%Y-%m-%dT%H:%M:%SZ', at, 'unixepoch'), value, spread
             FROM figure CROSS JOIN reading ON reading.figure = figure.id
             CROSS JOIN record ON record.id = reading.record LEFT JOIN setup ON setup.id = record.setup
             WHERE figure.name = ?5 AND {MEANT}
             ORDER BY figure.id, record.part, record.setup, at, record.id"
        );
        let all = || {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let meant = params![filter.target, filter.kind_word(), filter.since, filter.before, figure];
            let mut rows = statement.query(meant)?;
            let mut found: Vec<Series> = Vec::new();
            while let Some(row) = rows.next()? {
                let next = Series {
                    metric: metric(row, 0)?,
                    part: row.get(3)?,
                    device: row.get(4)?,
                    setup: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
                    points: Vec::new(),
                };
                let point = Point { record: row.get(6)?, at: row.get(7)?, value: row.get(8)?, spread: row.get(9)? };
                let is_same =
                    |last: &Series| (&last.part, &last.setup, &last.metric) == (&next.part, &next.setup, &next.metric);
                match found.last_mut().filter(|last| is_same(last)) {
                    Some(last) => last.points.push(point),
                    None => found.push(Series { points: vec![point], ..next }),
                }
            }
            Ok(found)
        };
        let mut found = all().map_err(|error| StoreError::of(&self.path, error))?;
        found.sort_by_key(|series| std::cmp::Reverse(series.points.len()));
        Ok(found)
    }

    /// Every figure of the records that are meant, one row each, those of the oldest records first.
    ///
    /// # Errors
    /// Where the file cannot be read, or `each` fails.
    pub(crate) fn rows<E: From<StoreError>>(
        &self,
        filter: &Filter,
        mut each: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let of = |error| E::from(StoreError::of(&self.path, error));
        let sql = format!("{} {MEANT} ORDER BY at, record.id, figure.id", rows_where());
        let mut statement = self.connection.prepare(&sql).map_err(of)?;
        let meant = params![filter.target, filter.kind_word(), filter.since, filter.before];
        let mut rows = statement.query(meant).map_err(of)?;
        while let Some(row) = rows.next().map_err(of)? {
            each(exported(row).map_err(of)?)?;
        }
        Ok(())
    }

    /// Number, day, model and key of the records that are meant: those of the earliest day first, and on it model by model.
    pub(crate) fn slices(
        &self,
        filter: &Filter,
        mut each: impl FnMut(i64, String, String, Key),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT id, date(at, 'unixepoch'), device, digest FROM record WHERE {MEANT}
             ORDER BY date(at, 'unixepoch'), device, at, id"
        );
        let mut all = || {
            let mut statement = self.connection.prepare(&sql)?;
            let meant = params![filter.target, filter.kind_word(), filter.since, filter.before];
            let mut rows = statement.query(meant)?;
            while let Some(row) = rows.next()? {
                let digest: Vec<u8> = row.get(3)?;
                let key = digest.first_chunk().ok_or(rusqlite::Error::InvalidQuery)?;
                each(row.get(0)?, row.get(1)?, row.get(2)?, *key);
            }
            Ok(())
        };
        all().map_err(|error| StoreError::of(&self.path, error))
    }

    /// Every figure of these records, in their order. Looked up record by record: to sort rows as wide as these would be to write
    /// all of them into a temporary file and to read them again.
    ///
    /// # Errors
    /// Where the file cannot be read, or `each` fails; here as below.
    pub(crate) fn rows_of(
        &self,
        ids: &[i64],
        mut each: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        let sql = format!("{} record.id = ?1 ORDER BY figure.id", rows_where());
        let mut statement = self.connection.prepare(&sql).map_err(of)?;
        for id in ids {
            let mut rows = statement.query([id]).map_err(of)?;
            while let Some(row) = rows.next().map_err(of)? {
                each(exported(row).map_err(of)?)?;
            }
        }
        Ok(())
    }

    /// These records themselves, in their order.
    pub(crate) fn bodies(
        &self,
        ids: &[i64],
        mut each: impl FnMut(Body) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let of = |error| StoreError::of(&self.path, error);
        let sql = format!(
            "SELECT {COLUMNS}, at, setup.text, digest, deflated FROM record JOIN body ON body.record = record.id
             LEFT JOIN setup ON setup.id = record.setup WHERE record.id = ?1"
        );
        let mut statement = self.connection.prepare(&sql).map_err(of)?;
        for id in ids {
            let (body, deflated) = statement.query_one([id], body).map_err(of)?;
            let text = inflated(&deflated, body.entry.bytes)
                .ok_or_else(|| StoreError::Damaged(self.path.clone(), format!("record {id} is not what was kept")))?;
            each(Body { text, ..body })?;
        }
        Ok(())
    }

    /// Has everything that is asked until this is dropped answered from one state of the file.
    pub(crate) fn snapshot(&self) -> Result<Transaction<'_>, StoreError> {
        self.connection.unchecked_transaction().map_err(|error| StoreError::of(&self.path, error))
    }
}

/// What [`exported`] reads, up to the records that are meant.
fn rows_where() -> String {
    format!(
        "SELECT {COLUMNS}, at, setup.text, name, unit, higher_is_better, value, runs, spread, digest
         FROM record JOIN reading ON reading.record = record.id JOIN figure ON figure.id = reading.figure
         LEFT JOIN setup ON setup.id = record.setup WHERE"
    )
}

/// The first half of a digest, in digits.
fn key(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<String> {
    let digest: Vec<u8> = row.get(at)?;
    Ok(dataset::digits(digest.get(..16).unwrap_or_default()))
}

/// A record without its text, and the text as it is kept.
fn body(row: &rusqlite::Row<'_>) -> rusqlite::Result<(Body, Vec<u8>)> {
    let body = Body {
        entry: entry(row)?,
        seconds: row.get(10)?,
        setup: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
        key: key(row, 12)?,
        text: String::new(),
    };
    Ok((body, row.get(13)?))
}

fn exported(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        entry: entry(row)?,
        seconds: row.get(10)?,
        setup: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
        metric: metric(row, 12)?,
        value: row.get(15)?,
        runs: row.get(16)?,
        spread: row.get(17)?,
        key: key(row, 18)?,
    })
}

/// Three columns from this one on.
pub(crate) fn metric(row: &rusqlite::Row<'_>, from: usize) -> rusqlite::Result<Metric> {
    let better = if row.get(from + 2)? { Better::Higher } else { Better::Lower };
    Ok(Metric { name: row.get(from)?, unit: row.get(from + 1)?, better })
}
