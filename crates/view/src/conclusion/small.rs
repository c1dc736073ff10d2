//! A plot small enough for a terminal: time by position, or a bar for each row of a short table.

use crate::table::{Cell, Table, tables};
use flashscope_model::Data;
use flashscope_model::observation::ScatterPlace;
use flashscope_units::Bytes;

/// A plot of one experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Small {
    /// Shortest times by position.
    Profile(Profile),
    /// What a column of a table holds.
    Bars(String, Vec<Bar>),
}

/// Times over positions, in columns of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The longest of the shortest times of each column's places, in nanoseconds; `None` where nothing was read.
    pub columns: Vec<Option<f64>>,
    /// First and last position.
    pub positions: (Bytes, Bytes),
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What the row is called.
    pub label: String,
    /// The figure in its own unit, as a number.
    pub value: f64,
    /// The figure with its unit.
    pub shown: String,
}

/// Fewest and most rows that are worth bars.
const ROWS: std::ops::RangeInclusive<usize> = 3..=32;

/// The plot of an experiment in so many columns; `None` where its table says it all.
pub fn small(data: &Data, columns: usize) -> Option<Small> {
    match data {
        Data::Slide(data) => profile(&data.places, columns).map(Small::Profile),
        Data::Scatter(data) => profile(&data.places, columns).map(Small::Profile),
        other => tables(other).iter().find_map(bars),
    }
}

fn profile(places: &[ScatterPlace], columns: usize) -> Option<Profile> {
    let times: Vec<(u64, f64)> =
        places.iter().filter_map(|place| Some((place.at.get(), place.times.iter().min()?.as_f64()))).collect();
    let (first, last) = (times.iter().map(|time| time.0).min()?, times.iter().map(|time| time.0).max()?);
    // Places of several stretches are drawn side by side, since what lies between them was not read.
    let columns = columns.min(times.len()).max(1);
    let mut found = vec![None; columns];
    for (index, (_, time)) in times.iter().enumerate() {
        let column = &mut found[index * columns / times.len()];
        *column = Some(column.map_or(*time, |other: f64| other.max(*time)));
    }
    Some(Profile { columns: found, positions: (Bytes(first), Bytes(last)) })
}

/// The last column of rates, else of differences, else of times.
fn bars(table: &Table) -> Option<Small> {
    if !ROWS.contains(&table.rows.len()) {
        return None;
    }
    let kinds: [fn(&Cell) -> Option<f64>; 3] = [
        |cell| if let Cell::Rate(rate) = cell { Some(rate.get()) } else { None },
        |cell| if let Cell::Contrast(contrast) = cell { Some(contrast.get()) } else { None },
        |cell| if let Cell::Time(time) = cell { Some(time.as_f64()) } else { None },
    ];
    let holds = |column: usize, value: &dyn Fn(&Cell) -> Option<f64>| {
        table.rows.iter().filter(|row| row.get(column).and_then(value).is_some()).count() >= *ROWS.start()
    };
    let find = |value: &fn(&Cell) -> Option<f64>| (1..table.columns.len()).rev().find(|column| holds(*column, value));
    let (column, value) = kinds.iter().find_map(|value| Some((find(value)?, value)))?;
    let bar = |row: &Vec<Cell>| {
        Some(Bar { label: row[0].to_string(), value: value(&row[column])?, shown: row[column].to_string() })
    };
    Some(Small::Bars(table.columns[column].clone(), table.rows.iter().filter_map(bar).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::{ByteRate, Nanos};

    #[test]
    fn a_column_shows_its_longest_read() {
        let place = |index: u64| ScatterPlace { at: Bytes::kib(index), times: vec![Nanos(100 + index), Nanos(500)] };
        let places: Vec<ScatterPlace> = (0..10).map(place).collect();
        let profile = profile(&places, 5).unwrap();
        assert_eq!(profile.columns, [101.0, 103.0, 105.0, 107.0, 109.0].map(Some));
        assert_eq!(profile.positions, (Bytes::ZERO, Bytes::kib(9)));
    }

    #[test]
    fn rates_come_before_times() {
        let row = |n: u64| vec![Cell::Size(Bytes::kib(n)), Cell::Rate(ByteRate(n as f64)), Cell::Time(Nanos(n))];
        let columns = ["block", "rate", "time"].map(str::to_owned).into();
        let mut table = Table { caption: String::new(), columns, rows: (1..4).map(row).collect() };
        let Some(Small::Bars(name, found)) = bars(&table) else { panic!("no bars") };
        assert_eq!((name.as_str(), found[2].value, found[2].label.as_str()), ("rate", 3.0, "3 KiB"));
        table.rows.truncate(2);
        assert_eq!(bars(&table), None, "two rows need no plot");
    }
}
