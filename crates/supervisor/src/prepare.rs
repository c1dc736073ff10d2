//! From what was typed to a lab that can run: plan, devices, consent, queue.

use crate::args;
use crate::{qualify, result, shelf};
use anyhow::{Context, Result, anyhow};
use flashscope_console as console;
use flashscope_host::SysRoot;
use flashscope_lab::{Asked, Device, Entry, HostFile, Limits, Plan, Run, expand};
use flashscope_supervisor::{Folder, IDENTITIES, NAMES};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A lab before anything is started.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) plan: Plan,
    pub(crate) plan_sha256: String,
    /// As it was typed.
    pub(crate) plan_file: String,
    pub(crate) devices: Vec<Device>,
    /// The runs of the plan, none of them begun.
    pub(crate) entries: Vec<Entry>,
    pub(crate) host: HostFile,
    /// What the works that qualify ask of this host, by their places.
    pub(crate) asked: BTreeMap<usize, Asked>,
    /// Identities that may be written to.
    pub(crate) consent: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) folder: Folder,
    pub(crate) sys: SysRoot,
}

/// A device that would be written to without consent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unconsented {
    pub(crate) device: String,
    pub(crate) identity: String,
    pub(crate) work: String,
}

/// Reads the plan and the host's file, and finds the devices.
///
/// # Errors
/// Something of that is not there, or makes no sense.
pub(crate) fn prepare(args: &args::Run) -> Result<Lab> {
    let text = read(&args.plan)?;
    let plan = Plan::read(&text).map_err(|error| anyhow!("{}: {error}", args.plan.display()))?;
    let host = host_file(args.here.host.as_deref())?;
    let sys = args.sysfs.as_ref().map_or_else(SysRoot::live, SysRoot::at);
    let devices = shelf::find(&sys, &plan)?;
    let runs = expand(&plan, &devices).map_err(|error| anyhow!("{}: {error}", args.plan.display()))?;
    let consent = consent(args, &host, &devices)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = args.here.at_once.or(host.at_once).unwrap_or(64);
    let limits = Limits { busy: args.cores.map_or(cores, |cores| cores as usize), waiting: at_once as usize };
    let real = devices.iter().filter(|device| !device.simulated).count();
    if plan.neighbours.is_some() && real > limits.waiting {
        return Err(anyhow!(
            "the neighbour check has all {real} devices work at once, and at most {at_once} may\nhint: --at-once {real}"
        ));
    }
    commands(&plan, &host)?;
    let asked = qualify::asked(&plan).map_err(|error| anyhow!("{}: {error}", args.plan.display()))?;
    let of = |run: &Run, told: fn(&Device) -> &str, between: &str| {
        run.devices().map(|place| told(&devices[place])).collect::<Vec<_>>().join(between)
    };
    let entries = runs.into_iter().map(|run| {
        let device = of(&run, |device| &device.name, NAMES);
        let identity = of(&run, |device| &device.identity, IDENTITIES);
        let work = plan.works[run.work].name.clone();
        Entry::waiting(run, device, identity, work)
    });
    let entries = entries.collect();
    let folder = Folder::of(args.dir.as_deref(), &plan.name)?;
    let plan_file = args.plan.display().to_string();
    let plan_sha256 = result::sha256(text.as_bytes());
    Ok(Lab { plan, plan_sha256, plan_file, devices, entries, host, asked, consent, limits, folder, sys })
}

/// Reads a plan's name alone.
pub(crate) fn plan_name(path: &Path) -> Result<String> {
    let plan = Plan::read(&read(path)?).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(plan.name)
}

pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {}\nhint: docs/lab.md has a plan to begin with", path.display()))
}

/// Where the host's own file lies: the one that is named, else the usual one.
pub(crate) fn host_path(named: Option<&Path>) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = || folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    named.map(Path::to_owned).or_else(|| config().map(|config| config.join("flashscope/lab.toml")))
}

/// What it says; nothing where there is none at the usual place.
pub(crate) fn host_file(named: Option<&Path>) -> Result<HostFile> {
    let Some(path) = host_path(named).filter(|path| named.is_some() || path.exists()) else {
        return Ok(HostFile::default());
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    HostFile::read(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// What may be written to. What is typed must be a device of the plan, or it was a slip.
fn consent(args: &args::Run, host: &HostFile, devices: &[Device]) -> Result<Vec<String>> {
    let is_there = |identity: &String| devices.iter().any(|device| !device.simulated && device.identity == *identity);
    if let Some(other) = args.here.destroy_data.iter().find(|identity| !is_there(identity)) {
        return Err(anyhow!(
            "no device of the plan is {other}\nhint: `flashscope lab run {} --dry-run` shows their identities",
            args.plan.display()
        ));
    }
    Ok(args.here.destroy_data.iter().chain(&host.destroy_data).filter(|identity| is_there(identity)).cloned().collect())
}

/// The host's commands that the plan names, and whether all of its commands are some.
fn commands(plan: &Plan, host: &HostFile) -> Result<()> {
    for name in plan.works.iter().filter_map(|work| work.power.as_ref()) {
        let known = host.power.get(name).ok_or_else(|| {
            anyhow!("this host has no power commands called '{name}'\nhint: [power.{name}] with off and on in its own file (--host)")
        })?;
        is_command(&format!("power '{name}'"), &known.off)?;
        is_command(&format!("power '{name}'"), &known.on)?;
    }
    host.external.iter().try_for_each(|(name, command)| is_command(&format!("external '{name}'"), command))
}

fn is_command(what: &str, command: &str) -> Result<()> {
    match shlex::split(command) {
        Some(words) if !words.is_empty() => Ok(()),
        _ => Err(anyhow!("{what}: '{command}' is no command\nhint: mind its quotes")),
    }
}

impl Lab {
    /// Whether a run writes to its devices, whatever they are.
    fn writes(&self, entry: &Entry) -> bool {
        match self.asked.get(&entry.run.work) {
            Some(asked) => asked.writes,
            None => self.plan.works[entry.run.work].must_write(),
        }
    }

    /// The real devices that a work of the plan writes to and that may not be written to.
    pub(crate) fn unconsented(&self) -> Vec<Unconsented> {
        let mut found: Vec<Unconsented> = Vec::new();
        for entry in self.entries.iter().filter(|entry| self.writes(entry)) {
            for device in entry.run.devices().map(|place| &self.devices[place]) {
                let may = device.simulated || self.consent.contains(&device.identity);
                if !may && !found.iter().any(|other| other.identity == device.identity) {
                    found.push(Unconsented {
                        device: device.name.clone(),
                        identity: device.identity.clone(),
                        work: entry.work.clone(),
                    });
                }
            }
        }
        found
    }

    /// Says on stderr what keeps the plan from being run.
    pub(crate) fn refuse(&self, missing: &[Unconsented]) {
        let mut text = "error: refused for safety, nothing was started".to_owned();
        for Unconsented { device, identity, work } in missing {
            text.push_str(&format!(
                "\n  - '{work}' writes to '{device}', whose content nobody gave up\n    hint: --destroy-data={identity}"
            ));
        }
        console::say(&text);
    }
}
