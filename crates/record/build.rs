//! Compresses the schema of records, so that programs carry a tenth of it.

use flate2::{Compression, write::DeflateEncoder};
use std::io::Write;
use std::path::Path;

fn main() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json");
    println!("cargo:rerun-if-changed={}", from.display());
    println!("cargo:rerun-if-changed=build.rs");
    let schema = std::fs::read(&from).expect("docs/record.schema.json");
    let to = Path::new(&std::env::var_os("OUT_DIR").expect("a folder for what is built")).join("record.schema.deflate");
    let mut into = DeflateEncoder::new(std::fs::File::create(to).expect("a file there"), Compression::best());
    into.write_all(&schema).and_then(|()| into.finish().map(drop)).expect("it is compressed");
}
