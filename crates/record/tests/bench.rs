//! The format of a run of load: the copy of its schema is current. That real output follows it is tested on the binary.

use flashscope_record::bench_schema;

const CHECKED_IN: &str = include_str!("../../../docs/bench.schema.json");

#[test]
fn the_checked_in_schema_is_current() {
    assert!(
        bench_schema() == CHECKED_IN,
        "stale: run `cargo test -p flashscope-record -- --ignored write_the_bench_schema`"
    );
}

#[test]
#[ignore = "writes docs/bench.schema.json"]
fn write_the_bench_schema() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bench.schema.json"), bench_schema()).unwrap();
}
