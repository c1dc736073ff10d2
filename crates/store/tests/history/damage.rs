//! Files that are not what they should be: each is named, and left as it is.

use crate::harness::{Place, bench};
use rusqlite::Connection;

#[test]
fn what_is_not_there_is_not_made_by_asking() {
    let place = Place::new();
    for words in [&["list"][..], &["show", "1"], &["show", "1", "--json"]] {
        place.run(words).refused("there is no history at");
    }
    assert!(!place.store().exists());
    // An empty file is no history either, but one may be begun in it.
    std::fs::write(place.store(), "").unwrap();
    place.run(&["list"]).refused("there is no history at");
    place.run(&["add", &place.file("a.json", &bench(1))]).expect(0);
    place.run(&["show", "2"]).refused("there is no record 2");
}

#[test]
fn other_programs_files_are_left_alone() {
    let place = Place::new();
    let record = place.file("a.json", &bench(1));
    let check = |why: &str| {
        let before = std::fs::read(place.store()).unwrap();
        place.run(&["add", &record]).refused(why);
        place.run(&["list"]).refused(why);
        assert_eq!(std::fs::read(place.store()).unwrap(), before);
        std::fs::remove_file(place.store()).unwrap();
    };
    std::fs::write(place.store(), "my notes, which are no database at all\n".repeat(100)).unwrap();
    check("is no history");
    Connection::open(place.store()).unwrap().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    check("is a database of another program");
    std::fs::create_dir(place.store()).unwrap();
    place.run(&["add", &record]).refused("cannot use");
}

#[test]
fn a_history_of_a_later_version_is_refused_and_left_as_it_is() {
    let place = Place::new();
    let record = place.file("a.json", &bench(1));
    place.run(&["add", &record]).expect(0);
    Connection::open(place.store()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(place.store()).unwrap();
    for words in [&["list"][..], &["add", &record], &["show", "1", "--json"]] {
        place.run(words).refused("has layout 99 of a later flashscope");
    }
    assert_eq!(std::fs::read(place.store()).unwrap(), before);
}

#[test]
fn a_damaged_file_is_named_and_never_half_believed() {
    let place = Place::new();
    let mut words = vec!["add".to_owned(), "-q".to_owned()];
    words.extend((0..20).map(|n| place.file(&format!("{n}.json"), &bench(n))));
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect(0);
    let whole = std::fs::read(place.store()).unwrap();
    let mut refused = 0;
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        std::fs::write(place.store(), &bytes).unwrap();
        for id in 1..=20 {
            let run = place.run(&["show", &id.to_string(), "--json"]);
            match run.code {
                // What is shown is what was kept.
                Some(0) => assert_eq!(run.stdout, bench(id - 1), "record {id}, page {page}"),
                _ => run.refused("is damaged"),
            }
            refused += u32::from(run.code != Some(0));
        }
        if page % 8 == 0 {
            assert!(matches!(place.run(&["list"]).code, Some(0 | 2)));
        }
    }
    assert!(refused > 20, "{refused}");
    std::fs::write(place.store(), &whole[..whole.len() / 2]).unwrap();
    let run = place.run(&["show", "20", "--json"]);
    run.refused("is damaged");
}
