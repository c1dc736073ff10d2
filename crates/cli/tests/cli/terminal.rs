//! What a person at a terminal sees while a command works.

use crate::harness::{flashscope, scratch};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::io::Read;
use std::process::Stdio;

/// Everything that a command writes to stderr, which is a terminal of so many columns.
fn on_terminal(arguments: &[&str], columns: u16) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it can be used");
    tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("it has a size");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let theirs = std::fs::File::options().read(true).write(true).open(name.to_str().expect("a plain path"));
    let theirs = theirs.expect("its other end opens");

    let mut command = flashscope(arguments).current_dir(&scratch()).command();
    command.env_remove("COLUMNS").env("TERM", "xterm").stdout(Stdio::null()).stderr(Stdio::from(theirs));
    let mut child = command.spawn().expect("the binary starts");
    // The other end is closed as soon as the program, which holds the last copy of it, has ended.
    drop(command);
    let mut seen = Vec::new();
    let mut ours = std::fs::File::from(ours);
    let mut buffer = [0; 4096];
    // Linux says EIO, not the end of the file, where nobody holds the other end any more.
    while let Ok(length @ 1..) = ours.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
    }
    assert!(child.wait().expect("it ends").success(), "{}", String::from_utf8_lossy(&seen));
    String::from_utf8(seen).expect("text")
}

/// The lines of a terminal of so many columns, in the order in which they were drawn, without what moves the cursor.
fn lines(seen: &str, columns: usize) -> Vec<String> {
    let mut text = String::new();
    let mut rest = seen.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => {
                let _ = rest.by_ref().find(|c| c.is_ascii_alphabetic());
                text.push('\n');
            }
            '\r' => text.push('\n'),
            c => text.push(c),
        }
    }
    // What is longer than a line goes on in the next one.
    let drawn = text.lines().flat_map(|line| {
        let chars: Vec<char> = line.chars().collect();
        chars.chunks(columns).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>()
    });
    drawn.filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn answers_appear_while_inspect_runs_and_nothing_is_wider_than_the_terminal() {
    for columns in [80, 40] {
        let seen = on_terminal(&["inspect", "sim:sd-4mib", "--no-files"], columns);
        let lines = lines(&seen, columns.into());
        for line in lines.iter().filter(|line| !line.contains(['█', '░'])) {
            let last = line.chars().nth(usize::from(columns) - 1);
            assert!(last.is_none_or(|c| c == ' '), "wider than {columns} columns: {line}");
        }
        let place = |what: &dyn Fn(&str) -> bool| lines.iter().position(|line| what(line));
        let answer =
            place(&|line| line.starts_with("allocation unit") && line.contains("4 MiB") && line.contains("99"));
        let last_step = lines.iter().rposition(|line| line.starts_with("step "));
        let (answer, last_step) = (answer.expect("the answer is said"), last_step.expect("a step is said"));
        assert!(answer < last_step, "the answer comes before the end: line {answer} of {last_step}");
        assert!(place(&|line| line.contains(" of about ")).is_some(), "how many steps: {lines:#?}");
    }
}

#[test]
fn without_a_terminal_nothing_is_drawn() {
    let run = flashscope(&["inspect", "sim:sd-4mib", "--no-files"]).run();
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let run = flashscope(&["inspect", "sim:sd-4mib", "--no-files", "--verbose"]).run();
    assert!(run.stderr.starts_with("allocation unit") && !run.stderr.contains("step "), "{}", run.stderr);
    let json = flashscope(&["inspect", "sim:sd-4mib", "--json", "--verbose"]).run();
    assert!(json.stderr.is_empty(), "{}", json.stderr);
}
