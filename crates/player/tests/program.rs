//! The program by itself. What it does for `flashscope app` is tested there, with the program that cargo builds for these tests: without them
//! `scripts/run-tests` would not have it built.

#[test]
fn whoever_starts_it_by_hand_learns_what_it_is() {
    flashscope_testkit::speaks_for_itself(
        env!("CARGO_BIN_EXE_flashscope-player"),
        "flashscope-player",
        "flashscope app",
    );
}
