//! Whether a lab finds what solo runs find, how much of the processors it leaves idle, what kills lose, and from how many emulated
//! cards on this machine is late. Exit code 1 where a target is missed.
//!
//! `scripts/prove lab [--quick]`, or `cargo bench -p flashscope-supervisor --bench lab [-- findings] [kills] [lateness] [--seed N]`.
//! `findings` compares clocks and `lateness` is one: both want a machine that does nothing else, and print its load.
#![allow(clippy::print_stdout, missing_docs)]

use flashscope_lab::{Engine, RunState};
use flashscope_stats::Rng;
use flashscope_supervisor::Queue;
use flashscope_supervisor::limits::{self, MOST, Step};
use flashscope_testkit::Targets;
use std::error::Error;
use std::fs;
use std::io::Stdout;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn Error>>;

const LAB: &str = env!("CARGO_BIN_EXE_flashscope-lab");
const PARTS: [&str; 3] = ["findings", "kills", "lateness"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    let seed = words.iter().skip_while(|word| *word != "--seed").nth(1).map_or(Ok(1), |text| text.parse())?;
    let named = |part: &str| words.iter().any(|word| word == part);
    let all = !PARTS.into_iter().any(named);
    let rig = Rig::new()?;
    let mut targets = Targets::begin(std::io::stdout())?;
    if all || named("findings") {
        findings(&rig, if quick { 4 } else { 64 }, quick, &mut targets)?;
    }
    if all || named("kills") {
        kills(&rig, if quick { 4 } else { 200 }, seed, &mut targets)?;
    }
    if !quick && (all || named("lateness")) {
        lateness(&rig, &mut targets)?;
    }
    println!("load {} on {} processors", load(), processors());
    Ok(if targets.end()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("?").to_owned()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A folder that goes with the bench, and the program that measures.
struct Rig {
    folder: PathBuf,
    flashscope: PathBuf,
}

impl Rig {
    fn new() -> Result<Rig, Box<dyn Error>> {
        let flashscope = Path::new(LAB).with_file_name("flashscope");
        if !flashscope.exists() {
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--locked", "-q", "-p", "flashscope-cli"]);
            build.args(LAB.contains("/release/").then_some("--release"));
            assert!(build.status()?.success(), "flashscope is built");
        }
        let folder = std::env::temp_dir().join(format!("flashscope-bench-lab-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Rig { folder, flashscope })
    }

    /// The lab on this plan, in a directory of this name.
    fn lab(&self, plan: &str, dir: &str) -> std::io::Result<Child> {
        let file = self.folder.join(format!("{dir}.toml"));
        fs::write(&file, plan)?;
        let mut command = Command::new(LAB);
        command.arg("run").arg(file).arg("--dir").arg(self.folder.join(dir));
        command.args(["--quiet", "--tries", "1000", "--retry-after", "10ms"]);
        command.env("XDG_CONFIG_HOME", &self.folder).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()
    }

    fn queue(&self, dir: &str) -> Result<Queue, Box<dyn Error>> {
        Ok(Queue::open(&self.folder.join(dir).join("lab.db"), false)?)
    }

    fn record(&self, dir: &str, id: &str) -> std::io::Result<Vec<u8>> {
        fs::read(self.folder.join(dir).join("runs").join(id).join("record.json"))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = flashscope_emulate::clean(&self.folder.join("cards/registry"));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn plan(devices: usize, work: &str) -> String {
    format!("name = \"bench\"\n[[device]]\nname = \"card\"\nsim = \"sim:sd-4mib\"\ncount = {devices}\n{work}")
}

const LOOK: &str = "[[work]]\nname = \"look\"\nrun = \"inspect\"\n";
const FAKE: &str = "[[work]]\nname = \"fake\"\nrun = \"capacity\"\n";

/// Each device by itself, one after the other, and then all of them in a lab: the same records, byte for byte, and how long that
/// took beside the work divided by the processors.
fn findings(rig: &Rig, devices: usize, quick: bool, targets: &mut Targets<Stdout>) -> Outcome {
    let began = Instant::now();
    let mut solo = Vec::new();
    for seed in 1..=devices {
        let at = rig.folder.join(format!("solo-{seed}"));
        let mut command = Command::new(&rig.flashscope);
        command.args(["inspect", "sim:sd-4mib", "--quiet", "--seed", &seed.to_string(), "--output"]).arg(&at);
        command.env("XDG_CONFIG_HOME", &rig.folder).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status()?.success(), "a solo run");
        solo.push(fs::read(at.with_extension("json"))?);
    }
    let work = began.elapsed();
    let began = Instant::now();
    assert!(rig.lab(&plan(devices, LOOK), "findings")?.wait()?.success(), "the lab");
    let wall = began.elapsed();
    let mut same = 0;
    for (entry, solo) in rig.queue("findings")?.list()?.iter().zip(&solo) {
        same += usize::from(rig.record("findings", &entry.run.id)? == *solo);
    }
    let target = format!("{devices} simulated devices: records as of solo runs, byte for byte");
    targets.row(&target, &format!("{devices} of {devices}"), &format!("{same}"), same == devices)?;
    let ideal = work.as_secs_f64() / processors() as f64;
    println!("solo runs {:.1} s one after the other, the lab {:.1} s", work.as_secs_f64(), wall.as_secs_f64());
    if !quick {
        targets.at_most("wall time over work divided by processors", 1.1, wall.as_secs_f64() / ideal, "")?;
    }
    Ok(())
}

/// The processes that a process has started.
fn children(pid: u32) -> Vec<i32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Labs whose supervisor and workers are killed at random moments, until so many kills have come; each lab is then finished.
fn kills(rig: &Rig, wanted: u32, seed: u64, targets: &mut Targets<Stdout>) -> Outcome {
    let mut rng = Rng::new(seed);
    let (mut supervisors, mut workers, mut labs) = (0, 0, 0);
    let (mut runs, mut lost, mut twice, mut torn) = (0, 0, 0, 0);
    while supervisors + workers < wanted {
        labs += 1;
        let (dir, plan) = (format!("kills-{labs}"), plan(4, &format!("{LOOK}{FAKE}")));
        loop {
            let mut child = rig.lab(&plan, &dir)?;
            if supervisors + workers < wanted {
                thread::sleep(Duration::from_millis(rng.below(400) as u64));
                let under_way = children(child.id());
                if !under_way.is_empty() && rng.below(2) == 0 {
                    let worker = under_way[rng.below(under_way.len())];
                    workers += u32::from(kill(worker));
                    thread::sleep(Duration::from_millis(rng.below(200) as u64));
                }
                if child.try_wait()?.is_none() && rng.below(4) > 0 {
                    child.kill()?;
                    supervisors += 1;
                }
            }
            if child.wait()?.success() {
                break;
            }
        }
        let queue = rig.queue(&dir)?;
        let attempts = queue.attempts()?;
        for entry in queue.list()? {
            runs += 1;
            lost += u32::from(entry.state != RunState::Done);
            let done = attempts.iter().filter(|one| one.id == entry.run.id && one.end.as_deref() == Some("done"));
            twice += u32::from(done.count() > 1);
            let record = rig.record(&dir, &entry.run.id)?;
            let name = rig.folder.join("hashed");
            fs::write(&name, &record)?;
            let hash = Command::new("sha256sum").arg(&name).output()?;
            let same = entry.sha256.is_some_and(|kept| String::from_utf8_lossy(&hash.stdout).starts_with(&kept));
            torn += u32::from(!same);
        }
    }
    println!("{supervisors} supervisors and {workers} workers killed in {labs} labs (seed {seed})");
    targets.row("kills: runs lost", &format!("0 of {runs}"), &lost.to_string(), lost == 0)?;
    targets.row("kills: runs done twice", &format!("0 of {runs}"), &twice.to_string(), twice == 0)?;
    targets.row(
        "kills: records that are not what their hash says",
        &format!("0 of {runs}"),
        &torn.to_string(),
        torn == 0,
    )?;
    Ok(())
}

fn kill(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok())
}

/// How long all cards are read.
const LONG: Duration = Duration::from_secs(3);

/// How late answers of emulated cards go out, for more and more cards that are read at once: what this host can hold.
fn lateness(rig: &Rig, targets: &mut Targets<Stdout>) -> Outcome {
    let usable = rustix::process::geteuid().is_root() && Path::new("/dev/fuse").exists();
    if !usable {
        targets.left_out("emulated cards of 2 ms at once", "it needs root and /dev/fuse")?;
        return Ok(());
    }
    let (holds, steps) = limits::search(MOST, |cards| limits::measure(&rig.folder.join("cards"), cards, LONG))?;
    println!("cards | lateness p50, µs | p99, µs | p99 of 2 ms");
    for Step { cards, p50, p99 } in steps {
        let (p50, p99) = (p50.as_f64() / 1e3, p99.as_f64() / 1e3);
        println!("{cards:>5} | {p50:>16.1} | {p99:>7.1} | {:>9.1} %", p99 / 20.0);
    }
    match holds {
        MOST => println!("this host holds {MOST} emulated cards of 2 ms at once"),
        0 => println!("this host holds not even one: its own file takes at-once = 1"),
        holds => {
            println!("lateness p99 exceeds 5 % from {} cards on: at-once = {holds} in the host's own file", holds + 1)
        }
    }
    Ok(())
}
