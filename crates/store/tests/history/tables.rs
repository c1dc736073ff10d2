//! What goes out as a table, and what goes for good.

use crate::harness::{Place, bench};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

fn place(records: u32) -> Place {
    let place = Place::new();
    let files: Vec<String> = (0..records).map(|n| place.file(&format!("{n}.json"), &bench(n * 24))).collect();
    let words: Vec<&str> = ["add", "-q"].into_iter().chain(files.iter().map(String::as_str)).collect();
    place.run(&words).expect(0);
    place
}

#[test]
fn both_tables_hold_what_trend_says() {
    let place = place(20);
    let trend = place.json(&["trend", "bench read", "--json"]);
    let points = trend[0]["points"].as_array().unwrap();
    let expected: Vec<(i64, f64)> =
        points.iter().map(|point| (point["record"].as_i64().unwrap(), point["value"].as_f64().unwrap())).collect();
    assert_eq!(expected.len(), 20);

    let printed = place.run(&["export", "--csv", "-"]).stdout;
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let place_of = |name: &str| headings.iter().position(|heading| heading == name).expect("a column");
    let (record, figure, value, at) = (place_of("record"), place_of("figure"), place_of("value"), place_of("time"));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let rates = || rows.iter().filter(|row| &row[figure] == "bench read");
    let found: Vec<(i64, f64)> =
        rates().map(|row| (row[record].parse().unwrap(), row[value].parse().unwrap())).collect();
    assert_eq!(found, expected);
    assert_eq!(rates().next().map(|row| &row[at]), Some("2026-03-01T00:00:00Z"));

    let file = place.path("figures.parquet");
    place.run(&["export", "--parquet", file.to_str().unwrap()]).expect(0);
    let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
    let all: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(all.len(), rows.len());
    let found: Vec<(i64, f64)> = all
        .iter()
        .filter(|row| row.get_string(figure).unwrap() == "bench read")
        .map(|row| (row.get_long(record).unwrap(), row.get_double(value).unwrap()))
        .collect();
    assert_eq!(found, expected);
    // 2026-03-01 in milliseconds.
    assert_eq!(all[0].get_timestamp_millis(at).unwrap(), 1_772_323_200_000);
}

#[test]
fn a_table_replaces_only_what_is_ours_and_never_the_history() {
    let place = place(2);
    let notes = place.file("notes.csv", "my notes\n");
    let csv = place.path("figures.csv");
    let csv = csv.to_str().unwrap();
    place.run(&["export", "--csv", csv]).expect(0);
    place.run(&["export", "--csv", csv]).expect(0);
    assert_eq!(place.run(&["export", "--csv", &notes]).code, Some(2));
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "my notes\n");
    place.run(&["export", "--csv", &notes, "--force"]).expect(0);
    let store = place.store();
    let before = std::fs::read(&store).unwrap();
    assert_eq!(place.run(&["export", "--csv", store.to_str().unwrap(), "--force"]).code, Some(2));
    assert_eq!(std::fs::read(&store).unwrap(), before);
    assert_eq!(place.run(&["export"]).code, Some(2));
    assert_eq!(place.run(&["export", "--csv", "/dev/full", "--force"]).code, Some(2));
}

#[test]
fn prune_says_what_would_go_and_removes_it_only_when_told() {
    let place = place(28);
    let ids = |words: &[&str]| -> Vec<i64> {
        let said = place.json(words);
        said["records"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
    };
    let left = || place.json(&["list", "--json", "--limit", "100"]).as_array().unwrap().len();
    assert_eq!(place.run(&["prune"]).code, Some(2), "everything is never meant");
    assert_eq!(ids(&["prune", "--json", "--before", "2026-03-04"]), [3, 2, 1]);
    assert_eq!(ids(&["prune", "--json", "--keep", "26"]), [2, 1]);
    assert_eq!(ids(&["prune", "--json", "--keep", "26", "--before", "2026-03-02"]), [] as [i64; 0]);
    let said = place.run(&["prune", "--keep", "3"]);
    said.expect(0);
    assert!(said.stdout.contains("25 records would go; nothing was removed"), "{}", said.stdout);
    assert!(said.stdout.contains("and 5 older ones"), "{}", said.stdout);
    assert_eq!(left(), 28);
    let size = std::fs::metadata(place.store()).unwrap().len();
    place.run(&["prune", "--keep", "3", "--yes"]).expect(0);
    assert_eq!(left(), 3);
    assert!(std::fs::metadata(place.store()).unwrap().len() < size / 2);
    place.run(&["show", "1", "--json"]).refused("there is no record 1");
    // Numbers are not given again, and the same bytes may come back.
    place.run(&["prune", "--keep", "0", "--yes"]).expect(0);
    assert_eq!(place.json(&["add", "--json", &place.file("again.json", &bench(0))])[0]["id"], 29);
    assert_eq!(place.json(&["trend", "--json"])[0]["records"], 1);
}
