//! The real server, as `scripts/nats-server` starts it, with a coordinator and agents.

use crate::harness::{Place, Run};
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long anything is waited for. No test is quicker or slower for it.
const PATIENCE: Duration = Duration::from_secs(120);

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/nats-server")
}

/// Whether the server can be had here; what keeps it away is said once.
pub(crate) fn there_is_one() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let built = Command::new(script()).arg("--build").output().expect("a shell");
        if !built.status.success() {
            eprint!("{}", String::from_utf8_lossy(&built.stderr));
        }
        built.status.success()
    })
}

/// A process that ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_raw(self.0.id() as i32).expect("a number");
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server with its directory.
pub(crate) struct Server<'a> {
    pub(crate) place: &'a Place,
    port: u16,
    process: Option<Process>,
}

impl<'a> Server<'a> {
    pub(crate) fn start(place: &'a Place) -> Server<'a> {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let mut server = Server { place, port, process: None };
        server.again();
        server
    }

    /// Starts it, also anew after it was killed, and waits until it listens.
    pub(crate) fn again(&mut self) {
        let path = self.place.path("nats.log");
        let times = || std::fs::read_to_string(&path).map_or(0, |log| log.matches("Server is ready").count());
        let before = times();
        let log = File::options().create(true).append(true).open(&path).expect("a log");
        let mut command = Command::new(script());
        command.arg(self.place.path("nats")).args(["--port", &self.port.to_string(), "--agents", "a,b"]);
        self.process = Some(Process(command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts")));
        self.until("the server listens", || times() > before);
    }

    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn address(&self) -> String {
        format!("tls://127.0.0.1:{}", self.port)
    }

    fn words(&self, words: &[&str], who: &str) -> Vec<String> {
        let mut all: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let file = |name: &str| self.place.path("nats").join(name).display().to_string();
        all.extend(["--server".into(), self.address()]);
        all.extend(["--ca".into(), file("ca.pem"), "--token".into(), file(&format!("tokens/{who}"))]);
        all
    }

    /// The program, speaking as this one.
    pub(crate) fn command(&self, words: &[&str], who: &str) -> Command {
        let all = self.words(words, who);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        self.place.command(&all)
    }

    pub(crate) fn run(&self, words: &[&str], who: &str) -> Run {
        let all = self.words(words, who);
        self.place.run(&all.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts one that stays, and waits until it says that it is ready.
    pub(crate) fn stays(&self, words: &[&str], who: &str) -> Process {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let log = self.place.path(&format!("{who}-{}.log", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let mut command = self.command(words, who);
        command.stdout(Stdio::null()).stderr(File::create(&log).expect("a log"));
        let mut process = Process(command.spawn().expect("it starts"));
        self.until(&format!("{words:?} is ready"), || {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            assert!(process.0.try_wait().expect("its state").is_none(), "{words:?} has ended: {said}");
            said.contains("ready")
        });
        process
    }

    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            if began.elapsed() > PATIENCE {
                self.logs();
                panic!("in vain waited until {what}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What all of them said.
    pub(crate) fn logs(&self) {
        for file in std::fs::read_dir(self.place.path("")).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|end| end == "log") {
                eprintln!("{}:\n{}", file.path().display(), std::fs::read_to_string(file.path()).unwrap_or_default());
            }
        }
    }

    /// What `status` says; `None` where nobody answers.
    pub(crate) fn status(&self) -> Option<serde_json::Value> {
        let run = self.run(&["status", "--json"], "operator");
        if run.code == Some(0) { serde_json::from_str(&run.stdout).ok() } else { None }
    }

    /// All runs; none where nobody answers.
    pub(crate) fn runs(&self) -> Vec<serde_json::Value> {
        self.status().and_then(|status| status["lab_runs"].as_array().cloned()).unwrap_or_default()
    }

    /// How many runs are done.
    pub(crate) fn done(&self) -> usize {
        self.runs().iter().filter(|run| run["state"] == "done").count()
    }
}
