//! Processes of the bench, killed and started again.

use crate::network::{ADDRESS, Network};
use crate::{Outcome, connect};
use flashscope_hosts::{Link, Operator, Token};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const LAB: &str = env!("CARGO_BIN_EXE_flashscope-lab");
/// Devices of a plan.
const DEVICES: usize = 64;
/// The clock of the far agent is so many seconds ahead.
const AHEAD: u32 = 3 * 24 * 3600;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/nats-server")
}

pub(crate) fn there_is_a_server() -> bool {
    let built = Command::new(script()).arg("--build").stdout(Stdio::null()).status();
    built.is_ok_and(|status| status.success())
}

/// Everything that runs, in a folder that goes with it.
pub(crate) struct Rig {
    folder: PathBuf,
    port: u16,
    network: Option<Network>,
    shim: Option<PathBuf>,
    processes: BTreeMap<String, Child>,
    /// How each is started again.
    started: BTreeMap<String, Vec<String>>,
    /// Bytes of each record that compression does not make smaller.
    pub(crate) filler: usize,
}

impl Rig {
    pub(crate) fn new(part: &str, network: Option<Network>) -> Result<Rig, Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("flashscope-bench-hosts-{part}-{}", std::process::id()));
        fs::create_dir_all(folder.join("nats"))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (processes, started) = (BTreeMap::new(), BTreeMap::new());
        Ok(Rig { folder, port, network, shim: None, processes, started, filler: 0 })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn words(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| self.path(name).display().to_string()).collect()
    }

    fn address(&self) -> &'static str {
        if self.network.is_some() { ADDRESS } else { "127.0.0.1" }
    }

    fn url(&self) -> String {
        format!("tls://{}:{}", self.address(), self.port)
    }

    /// Whatever makes the clock of the far agent another one.
    pub(crate) fn clock_shim(&mut self) -> Option<PathBuf> {
        let (source, shim) = (self.path("clock.c"), self.path("clock.so"));
        let text = format!(
            "#define _GNU_SOURCE\n#include <time.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
             int clock_gettime(clockid_t id, struct timespec *now) {{\n\
             int code = syscall(SYS_clock_gettime, id, now);\n\
             if (id == CLOCK_REALTIME) now->tv_sec += {AHEAD};\nreturn code;\n}}\n"
        );
        fs::write(&source, text).ok()?;
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(&source).status().ok()?;
        self.shim = built.success().then_some(shim);
        self.shim.clone()
    }

    fn start(&mut self, name: &str, words: Vec<String>) -> Outcome {
        let far = self.network.as_ref().filter(|_| name == "far");
        let mut all = far.map_or(Vec::new(), Network::before);
        if let Some(shim) = self.shim.as_ref().filter(|_| name == "far") {
            all.extend(["env".to_owned(), format!("LD_PRELOAD={}", shim.display())]);
        }
        all.extend(words);
        self.started.insert(name.to_owned(), all);
        self.again(name)
    }

    /// Starts one again by the words that it was started by.
    pub(crate) fn again(&mut self, name: &str) -> Outcome {
        let words = self.started.get(name).ok_or("it was never started")?;
        let log = File::options().create(true).append(true).open(self.path(&format!("{name}.log")))?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("XDG_CONFIG_HOME", &self.folder).current_dir(&self.folder);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        self.processes.insert(name.to_owned(), child);
        Ok(())
    }

    pub(crate) fn server(&mut self) -> Outcome {
        let mut words = vec![script().display().to_string()];
        words.extend(self.words(&["nats"]));
        words.extend(["--port", &self.port.to_string(), "--address", self.address()].map(str::to_owned));
        words.extend(["--agents", "a,b,c,far,liar"].map(str::to_owned));
        self.start("server", words)?;
        // Its tokens are made before it listens.
        self.until("the server listens", |rig| rig.linked_as("operator").is_ok())
    }

    pub(crate) fn coordinator(&mut self, more: &[&str]) -> Outcome {
        let words = self.lab("coordinator", "coordinator", more);
        self.start("coordinator", words)?;
        self.until("the coordinator answers", |rig| rig.done().is_some())
    }

    fn lab(&self, command: &str, who: &str, more: &[&str]) -> Vec<String> {
        let mut words = vec![LAB.to_owned(), command.to_owned()];
        let files = self.words(&["nats/ca.pem", &format!("nats/tokens/{who}")]);
        words.extend(["--server", &self.url(), "--ca", &files[0], "--token", &files[1]].map(str::to_owned));
        words.extend(more.iter().map(|word| word.to_string()));
        words
    }

    /// An agent of this bench.
    pub(crate) fn agent(&mut self, name: &str, more: &[&str]) -> Outcome {
        let mut words = vec![std::env::current_exe()?.display().to_string(), "--agent".to_owned(), self.url()];
        words.extend(self.words(&["nats/ca.pem", &format!("nats/tokens/{name}"), &format!("{name}.kept")]));
        words.push(self.filler.to_string());
        words.extend(more.iter().map(|word| word.to_string()));
        self.start(name, words)
    }

    pub(crate) fn real_agent(&mut self, name: &str) -> Outcome {
        let words = self.lab("agent", name, &[]);
        self.start(name, words)
    }

    /// `kill -9`; whether it lived.
    pub(crate) fn kill(&mut self, name: &str) -> Result<bool, Box<dyn Error>> {
        let Some(mut child) = self.processes.remove(name) else { return Ok(false) };
        let lived = child.try_wait()?.is_none();
        child.kill()?;
        child.wait()?;
        Ok(lived)
    }

    /// Cuts the network of the far agent for so long; whether there is one.
    pub(crate) fn cut(&mut self, long: Duration) -> Result<bool, Box<dyn Error>> {
        let Some(network) = &self.network else { return Ok(false) };
        network.set(false);
        sleep(long);
        network.set(true);
        Ok(true)
    }

    /// Hands in plans of about so many runs; answers how many there are.
    pub(crate) fn submit(&mut self, runs: usize) -> Result<usize, Box<dyn Error>> {
        let mut text = format!("name = \"p\"\n[[device]]\nname = \"s\"\nsim = \"sim:sd-4mib\"\ncount = {DEVICES}\n");
        for number in 1..=runs.div_ceil(DEVICES) {
            let size = format!("options = {{ rw = \"randread\", size = \"{number}MiB\" }}");
            text.push_str(&format!("[[work]]\nname = \"w{number}\"\nrun = \"bench\"\n{size}\n"));
        }
        let link = self.linked_as("operator")?;
        Ok(Operator(&link).submit(&text, false)?.1)
    }

    /// How many runs are done; `None` where nobody answers.
    pub(crate) fn done(&self) -> Option<usize> {
        let link = self.linked_as("operator").ok()?;
        let (runs, _) = Operator(&link).status().ok()?;
        Some(runs.iter().filter(|run| run.state == "done").count())
    }

    fn linked_as(&self, who: &str) -> Result<Link, Box<dyn Error>> {
        self.linked(&Token::read(&self.path(&format!("nats/tokens/{who}")))?)
    }

    /// Connects.
    pub(crate) fn linked(&self, token: &Token) -> Result<Link, Box<dyn Error>> {
        connect(&self.url(), &self.path("nats/ca.pem"), token)
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Rig) -> bool) -> Outcome {
        let began = Instant::now();
        while !is_so(self) {
            if began.elapsed() > Duration::from_secs(60) {
                self.print_logs();
                return Err(format!("in vain waited until {what}").into());
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// The memory of a process that is its own, in MiB.
    pub(crate) fn memory(&self, name: &str) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.processes.get(name)?.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kib| kib / 1024.0)
    }

    /// Records that lie at agents, and that no server has confirmed.
    pub(crate) fn left_at_agents(&self) -> usize {
        self.files(".record")
    }

    /// Lies that were told.
    pub(crate) fn lies(&self) -> usize {
        self.files(".lie")
    }

    fn files(&self, end: &str) -> usize {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let kept = folders.filter(|folder| folder.file_name().to_string_lossy().ends_with(".kept"));
        let files = kept.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
        files.filter(|file| file.file_name().to_string_lossy().ends_with(end)).count()
    }

    pub(crate) fn stop_all_but_server(&mut self) {
        let names: Vec<String> = self.processes.keys().filter(|name| *name != "server").cloned().collect();
        for name in names {
            let _ = self.kill(&name);
        }
    }

    /// The last lines that each said.
    pub(crate) fn print_logs(&self) {
        for name in self.started.keys() {
            let text = fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            eprintln!("== {name}\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        for child in self.processes.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A small file system in memory.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// Mounts one of so many MiB; `None` where that is not allowed.
    pub(crate) fn new(at: &Path, mib: u32) -> Option<Disk> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "flashscope-bench"]).arg(at);
        mount.output().is_ok_and(|output| output.status.success()).then(|| Disk(at.to_owned()))
    }

    /// Fills it up to the last byte.
    pub(crate) fn fill(&self) -> Outcome {
        let mut ballast = File::create(self.0.join("ballast"))?;
        for size in [1 << 16, 1] {
            while ballast.write_all(&vec![1; size]).is_ok() {}
        }
        Ok(())
    }

    /// Makes room again.
    pub(crate) fn clear(&self) -> std::io::Result<()> {
        fs::remove_file(self.0.join("ballast"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
