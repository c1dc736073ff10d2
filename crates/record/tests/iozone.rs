//! The format of a run of iozone: the copy of its schema is current. That real output follows it is tested on the binary.

use flashscope_record::iozone_schema;

const CHECKED_IN: &str = include_str!("../../../docs/iozone.schema.json");

#[test]
fn the_checked_in_schema_is_current() {
    assert!(
        iozone_schema() == CHECKED_IN,
        "stale: run `cargo test -p flashscope-record -- --ignored write_the_iozone_schema`"
    );
}

#[test]
#[ignore = "writes docs/iozone.schema.json"]
fn write_the_iozone_schema() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/iozone.schema.json"), iozone_schema()).unwrap();
}
