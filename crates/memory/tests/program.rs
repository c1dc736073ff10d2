//! The program by itself; what it does is tested with `flashscope mem`, which starts it. Cargo builds it for these tests: without them
//! `scripts/run-tests` would not have it.

use std::process::Command;

#[test]
fn it_says_what_it_is() {
    let told = Command::new(env!("CARGO_BIN_EXE_flashscope-mem")).arg("--version").output().expect("it starts");
    assert_eq!(told.stdout, concat!("flashscope-mem ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
}
