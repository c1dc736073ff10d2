//! Out into a dataset and back: byte for byte, nothing twice, and nothing lost by kills or damage.

use crate::harness::{Place, bench, names_device};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A history of records twelve hours apart.
fn place(records: std::ops::Range<u32>) -> Place {
    let place = Place::new();
    add(&place, records);
    place
}

fn add(place: &Place, records: std::ops::Range<u32>) {
    let files: Vec<String> = records.map(|n| place.file(&format!("{n}.json"), &bench(n * 12))).collect();
    let words: Vec<&str> = ["add", "-q"].into_iter().chain(files.iter().map(String::as_str)).collect();
    place.run(&words).expect(0);
}

/// The files of a table below a dataset, as names below it.
fn files(root: &Path, table: &str) -> BTreeSet<PathBuf> {
    let below = |folder: PathBuf| -> Vec<PathBuf> {
        fs::read_dir(folder).map(|all| all.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    };
    let models = below(root.join(table)).into_iter().flat_map(below);
    models.flat_map(below).map(|file| file.strip_prefix(root.join(table)).unwrap().to_owned()).collect()
}

fn records(place: &Place) -> BTreeSet<String> {
    let all = place.json(&["list", "--json", "--limit", "1000"]);
    let ids = all.as_array().unwrap().iter().map(|entry| entry["id"].to_string());
    ids.map(|id| place.run(&["show", &id, "--json"]).stdout).collect()
}

fn export(place: &Place, root: &str) -> [u64; 4] {
    let said = place.json(&["export", "--dataset", root, "--json"]);
    ["new", "already", "figures", "slices"].map(|name| said[name].as_u64().unwrap())
}

#[test]
fn what_goes_out_comes_back_byte_for_byte_and_nothing_is_there_twice() {
    let place = place(0..6);
    let root = place.path("results");
    let name = root.to_str().unwrap();
    let [new, already, figures, slices] = export(&place, name);
    assert_eq!((new, already, slices), (6, 0, 3), "three days of two records");
    assert_eq!(files(&root, "figures"), files(&root, "records"));
    // Rows of all files are those of the table of the whole.
    let rows = |file: &PathBuf| {
        let reader = SerializedFileReader::new(fs::File::open(root.join("figures").join(file)).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        rows.map(|row| (row.get_string(10).unwrap().clone(), row.get_double(13).unwrap().to_string()))
            .collect::<Vec<_>>()
    };
    let mut found: Vec<(String, String)> = files(&root, "figures").iter().flat_map(rows).collect();
    assert_eq!(found.len() as u64, figures);
    let printed = place.run(&["export", "--csv", "-"]).stdout;
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let mut expected: Vec<(String, String)> =
        reader.records().map(Result::unwrap).map(|row| (row[10].to_owned(), row[13].to_owned())).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    // Again: nothing. More records of a day that is there: a further file.
    assert_eq!(export(&place, name), [0, 6, 0, 0]);
    add(&place, 6..7);
    place.run(&["add", "-q", &place.file("late.json", &bench(1))]).expect(0);
    let [new, already, _, slices] = export(&place, name);
    assert_eq!((new, already, slices), (2, 6, 2));
    assert_eq!(files(&root, "records").len(), 5);
    // Into another history, twice.
    let other = Place::new();
    let said = other.json(&["import", name, "--json"]);
    assert_eq!((&said["new"], &said["already"]), (&8.into(), &0.into()));
    assert_eq!(records(&other), records(&place));
    let said = other.json(&["import", name, "--json"]);
    assert_eq!((&said["new"], &said["already"]), (&0.into(), &8.into()));
    // Another host adds to the same dataset what it alone has.
    add(&other, 20..21);
    let [new, already, ..] = export(&other, name);
    assert_eq!((new, already), (1, 8));
}

#[test]
fn what_a_kill_leaves_goes_with_the_next_export() {
    let place = place(0..2);
    let root = place.path("results");
    let name = root.to_str().unwrap();
    export(&place, name);
    let whole = files(&root, "records");
    let file = whole.first().unwrap();
    // Killed after the figures and within the records.
    fs::rename(root.join("records").join(file), root.join("records").join(file.with_extension("parquet.part")))
        .unwrap();
    let notes = root.join("figures").join(file).with_file_name("notes.txt");
    fs::write(&notes, "not ours").unwrap();
    let [new, already, _, slices] = export(&place, name);
    assert_eq!((new, already, slices), (2, 0, 1));
    assert_eq!(files(&root, "records"), whole);
    assert!(notes.exists(), "what is not ours stays");
}

#[test]
fn only_one_at_a_time_and_only_into_what_is_ours() {
    let place = place(0..2);
    let foreign = place.path("photos");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("cat.jpg"), "a cat").unwrap();
    place.run(&["export", "--dataset", foreign.to_str().unwrap()]).refused("is no dataset");
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
    place.run(&["import", foreign.to_str().unwrap()]).refused("is no dataset");
    let root = place.path("results");
    let name = root.to_str().unwrap();
    export(&place, name);
    let mark = fs::File::open(root.join(".flashscope-dataset")).unwrap();
    mark.lock().unwrap();
    place.run(&["export", "--dataset", name]).refused("another program is writing");
    mark.unlock().unwrap();
    place.run(&["export", "--dataset", name]).expect(0);
}

#[test]
fn damage_is_named_and_costs_the_rest_nothing() {
    let place = place(0..6);
    let root = place.path("results");
    let name = root.to_str().unwrap();
    export(&place, name);
    let file = root.join("records").join(files(&root, "records").first().unwrap());
    let bytes = fs::read(&file).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], b"PAR1", b""] {
        fs::write(&file, damaged).unwrap();
        let other = Place::new();
        let run = other.run(&["import", name]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(file.to_str().unwrap()) && run.stderr.contains("hint"), "{}", run.stderr);
        assert_eq!(records(&other).len(), 4, "the other two days");
        place.run(&["export", "--dataset", name]).refused(file.to_str().unwrap());
    }
    // As the hint says.
    fs::remove_file(&file).unwrap();
    let [new, already, ..] = export(&place, name);
    assert_eq!((new, already), (2, 4));
}

#[test]
fn a_hostile_name_stays_in_its_folder() {
    let place = Place::new();
    let file = place.file("odd.json", &names_device(&bench(0), "../../<b>=\"%2e\n"));
    place.run(&["add", "-q", &file]).expect(0);
    let root = place.path("results");
    export(&place, root.to_str().unwrap());
    let found = files(&root, "records");
    let folder = found.first().unwrap().parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(folder, "model=..%2F..%2F%3Cb%3E%3D%22%252e%0A");
    let said = Place::new().json(&["import", root.to_str().unwrap(), "--json"]);
    assert_eq!(said["new"], 1);
}
