//! Runs the binary and looks at what came of it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A call of the binary that has not run yet.
pub(crate) struct Call(Command);

/// The binary with these arguments, in a folder of its own, with nothing inherited that changes what it prints.
pub(crate) fn flashscope(arguments: &[&str]) -> Call {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashscope"));
    command.args(arguments).current_dir(scratch()).env("COLUMNS", "100");
    for name in ["FLASHSCOPE_SEED", "FLASHSCOPE_MAX_WRITE", "FLASHSCOPE_SETTINGS"] {
        command.env_remove(name);
    }
    // Nobody's settings are there.
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    Call(command)
}

impl Call {
    pub(crate) fn current_dir(mut self, folder: &Path) -> Call {
        self.0.current_dir(folder);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Call {
        self.0.env(name, value);
        self
    }

    pub(crate) fn command(self) -> Command {
        self.0
    }

    /// Begins it, for who has something to do to it meanwhile; what it prints is kept.
    pub(crate) fn started(mut self) -> Child {
        self.0.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    pub(crate) fn run(mut self) -> Run {
        Run::from(self.0.output().expect("the binary starts"))
    }
}

/// What came of a call.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    pub(crate) fn expect(&self, code: i32) {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
    }
}

/// A new empty folder below cargo's own folder for such things.
pub(crate) fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("black-box-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

/// Path of a published log.
pub(crate) fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).to_str().expect("a plain path").to_owned()
}

/// Has a program built that lies beside the one under test, of the crate of this name: the tests of this crate alone have not built
/// it, and one of an earlier build may speak otherwise.
///
/// `scripts/run-tests` has built all programs, and says so. Cargo would build one of them with the features that it alone asks for,
/// which are not the whole workspace's: much would be compiled anew.
pub(crate) fn have_built(package: &str) {
    if std::env::var_os("FLASHSCOPE_PROGRAMS_ARE_BUILT").is_none() {
        let built = Command::new(env!("CARGO")).args(["build", "--locked", "-q", "-p", package]).status();
        assert!(built.expect("cargo runs").success());
    }
}

/// What Ctrl-C sends.
pub(crate) fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

/// Waits until a program has worked for so long: when that is depends on what else the machine does.
pub(crate) fn let_work(child: &Child, time: Duration) {
    /// Linux counts processor time in these for programs, whatever the kernel's own clock is.
    const TICK: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("the program runs");
        // User and system time, the 14th and 15th field; the second is a name that may hold anything.
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
        let ticks: u32 = fields.filter_map(|field| field.parse::<u32>().ok()).sum();
        if ticks * TICK >= time {
            return;
        }
        std::thread::sleep(TICK);
    }
    panic!("the program has not worked for {time:?} within a minute");
}

/// What a program says on stderr, line by line, as it says it.
pub(crate) fn heard(child: &mut Child) -> Receiver<String> {
    let (to, from) = channel();
    let stderr = BufReader::new(child.stderr.take().expect("it was asked for"));
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
    from
}

/// Says what a test had to leave out, in the form that the test command collects.
#[allow(clippy::print_stdout)]
pub(crate) fn left_out(what: &str) {
    println!("LEFT OUT: {what}");
}
