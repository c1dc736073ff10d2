//! Programs that another one starts: what they say to whoever starts them by hand.

use std::process::{Command, Output, Stdio};

/// Asserts that the program at this path, which speaks by lines of JSON with whoever starts it, says what it is under `name` where
/// it is asked, and without an order ends with code 2 and the command that starts it.
///
/// # Panics
/// Where it does not, or cannot be started.
pub fn speaks_for_itself(program: &str, name: &str, started_by: &str) {
    let told = output(Command::new(program).arg("--version"));
    assert!(told.status.success());
    assert_eq!(String::from_utf8_lossy(&told.stdout), format!("{name} {}\n", env!("CARGO_PKG_VERSION")));

    let lost = output(&mut Command::new(program));
    assert_eq!(lost.status.code(), Some(2));
    let said = String::from_utf8_lossy(&lost.stdout);
    assert!(said.contains("no order on stdin") && said.contains(&format!("`{started_by}`")), "{said}");
}

fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("the program starts")
}
