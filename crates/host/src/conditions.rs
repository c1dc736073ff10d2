//! Where a run takes place, and what about that place changes results.

use crate::list::{Bus, ListedDevice, active, disk_numbered, disk_under};
use crate::sysfs::{SysRoot, names};
use flashscope_model::envelope::{ConditionList, HostFacts};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::path::Path;

/// The place that a run takes place in: this machine, and the disk below what is measured.
#[derive(Clone, Debug)]
pub struct Surroundings {
    sys: SysRoot,
    disk: Option<ListedDevice>,
}

impl Surroundings {
    /// Of a device, a file or a folder; what is still to be made lies where its folder does.
    pub fn of(sys: &SysRoot, path: &Path) -> Surroundings {
        let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        Surroundings::on(sys, disk_under(sys, there))
    }

    /// With a disk that was found already.
    pub fn on(sys: &SysRoot, disk: Option<ListedDevice>) -> Surroundings {
        Surroundings { sys: sys.clone(), disk }
    }

    /// Host, board, kernel, architecture, and the bus of the disk.
    pub fn host(&self) -> HostFacts {
        let name =
            |file: &str| self.sys.text(format!("/proc/sys/kernel/{file}")).unwrap_or_else(|| "unknown".to_owned());
        HostFacts {
            name: name("hostname"),
            board: board(&self.sys),
            kernel: name("osrelease"),
            architecture: std::env::consts::ARCH.to_owned(),
            bus_mode: self.disk.as_ref().and_then(|disk| bus_mode(&disk.bus)),
        }
    }

    /// What the controller of an SD or MMC bus can do, in the kernel's words, whatever the part in it makes of that; only root sees
    /// it, and only where debugfs is mounted.
    pub fn bus_capability(&self) -> Option<String> {
        let Bus::Mmc(mmc) = &self.disk.as_ref()?.bus else { return None };
        let host = mmc.host.as_ref()?;
        let word = |file: &str| self.sys.text(format!("/sys/kernel/debug/{host}/{file}"));
        Some([word("caps")?, word("caps2").unwrap_or_default()].join(" ").trim().to_owned())
    }

    /// Equal as long as the machine has not booted and the disk was not taken away: the boot's own number and the kernel's
    /// number of the attached disk. `None` where the kernel has neither.
    pub fn session(&self) -> Option<String> {
        let boot = self.sys.text("/proc/sys/kernel/random/boot_id")?;
        let disk = self.disk.as_ref().and_then(|disk| disk.disk_sequence);
        Some(disk.map_or_else(|| boot.clone(), |disk| format!("{boot}/{disk}")))
    }

    /// Everything that changes results, as it is now: the governors of the processors, how many of these there are, and how the
    /// kernel drives the disk. What cannot be read is left out.
    pub fn conditions(&self) -> ConditionList {
        // Asked anew: the values of the disk that was found are those of then.
        conditions(&self.sys, self.disk.as_ref().and_then(|disk| disk_numbered(&self.sys, disk.number)).as_ref())
    }

    /// What changes by itself or by a daemon's hand while a run lasts: few files, so that it can be asked around every run.
    pub fn moving(&self) -> ConditionList {
        let mut found = Vec::new();
        let processors = processors(&self.sys);
        add(&mut found, "governor", governors(&self.sys, &processors));
        add(&mut found, "frequency_khz", frequencies(&self.sys, &processors));
        add(&mut found, "processor_temperature_celsius", processor_temperature(&self.sys));
        if let Some((disk, name)) = self.disk.as_ref().and_then(|disk| Some((disk, disk.path.file_name()?))) {
            let queue = Path::new("/sys/block").join(name).join("queue");
            let queue = |attribute: &str| self.sys.text(queue.join(attribute));
            add(&mut found, "scheduler", queue("scheduler").map(|all| active(&all)));
            add(&mut found, "read_ahead_kb", queue("read_ahead_kb"));
            add(&mut found, "temperature_celsius", temperature(&self.sys, disk));
        }
        found
    }
}

/// The model that the firmware names: device tree on boards, DMI on PCs.
fn board(sys: &SysRoot) -> Option<String> {
    // The device tree ends its texts in a zero byte.
    let text = |path: &str| sys.text(path).map(|text| text.trim_matches(['\0', ' ', '\n']).to_owned());
    let found = |path: &str| text(path).filter(|text| !text.is_empty());
    found("/proc/device-tree/model").or_else(|| {
        let product = found("/sys/class/dmi/id/product_name")?;
        Some(
            found("/sys/class/dmi/id/sys_vendor")
                .map_or_else(|| product.clone(), |vendor| format!("{vendor} {product}")),
        )
    })
}

fn add(found: &mut ConditionList, name: &str, value: Option<String>) {
    found.extend(value.map(|value| (name.to_owned(), value)));
}

/// Keeps the calling thread, and threads that it makes, on one processor. An error where that is not allowed or
/// there is no such processor, in words.
pub fn pin_cpu(cpu: usize) -> Result<(), String> {
    pin_cpus(&[cpu])
}

/// The same for several processors. Those that there are not are an error, even where others remain.
pub fn pin_cpus(cpus: &[usize]) -> Result<(), String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!("there is no processor {cpu}"));
        }
        set.set(cpu);
    }
    let named = || cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let missing = || format!("there is no processor {}, or this process may not use it", named());
    sched_setaffinity(None, &set).map_err(|error| match error {
        Errno::INVAL => missing(),
        error => format!("cannot stay on processor {}: {}", named(), crate::errno::describe(error)),
    })?;
    // The kernel takes what is left of a set, and says nothing.
    match sched_getaffinity(None) {
        Ok(got) if got != set => Err(missing()),
        _ => Ok(()),
    }
}

fn conditions(sys: &SysRoot, device: Option<&ListedDevice>) -> ConditionList {
    let mut found = Vec::new();
    let mut add = |name: &str, value: Option<String>| add(&mut found, name, value);
    let processors = processors(sys);
    add("processors", (!processors.is_empty()).then(|| processors.len().to_string()));
    add("governor", governors(sys, &processors));
    add("frequency_khz", frequencies(sys, &processors));
    add("processor_temperature_celsius", processor_temperature(sys));
    add("clock_source", sys.text("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    if let Some(device) = device {
        add("bus_mode", bus_mode(&device.bus));
        if let Bus::Mmc(mmc) = &device.bus {
            add("command_queue", mmc.command_queue.map(|on| if on { "on" } else { "off" }.to_owned()));
        }
        let queue = &device.queue;
        let kib = |size: flashscope_units::Bytes| (size.get() / 1024).to_string();
        add("scheduler", queue.scheduler.clone());
        add("read_ahead_kb", queue.read_ahead.map(kib));
        add("max_sectors_kb", queue.max_request.map(kib));
        add("write_cache", queue.write_cache.clone());
        add("temperature_celsius", temperature(sys, device));
        add("rotational", queue.rotational.map(|rotational| u8::from(rotational).to_string()));
    }
    found
}

/// How the bus runs, in the kernel's words; `None` where nothing says.
fn bus_mode(bus: &Bus) -> Option<String> {
    let parts: Vec<String> = match bus {
        Bus::Mmc(mmc) => {
            let mode = mmc.mode.as_ref()?;
            let clock = mode.clock_hz.map(|hertz| format!("{} MHz", hertz as f64 / 1e6));
            let width = mode.width.map(|lines| format!("{lines} bit"));
            [mode.timing.clone(), clock, width, mode.voltage.clone()].into_iter().flatten().collect()
        }
        Bus::Usb(usb) => usb.speed_mbit_per_s.iter().map(|speed| format!("USB, {speed} Mbit/s")).collect(),
        Bus::Nvme(nvme) => nvme.transport.iter().map(|transport| format!("NVMe, {transport}")).collect(),
        Bus::Scsi(_) | Bus::Virtio { .. } | Bus::Loop(_) | Bus::Other { .. } => Vec::new(),
    };
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `cpu0`, `cpu1` …
pub(crate) fn processors(sys: &SysRoot) -> Vec<String> {
    let is_number = |name: &String| {
        name.strip_prefix("cpu").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    names(&sys.path("/sys/devices/system/cpu")).into_iter().filter(is_number).collect()
}

/// The lowest and the highest that a processor runs at now; one figure where they agree.
fn frequencies(sys: &SysRoot, processors: &[String]) -> Option<String> {
    let now = |cpu: &String| sys.text(format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_cur_freq"))?.parse().ok();
    let all: Vec<u64> = processors.iter().filter_map(now).collect();
    let (low, high) = (all.iter().min()?, all.iter().max()?);
    Some(if low == high { low.to_string() } else { format!("{low} to {high}") })
}

fn processor_temperature(sys: &SysRoot) -> Option<String> {
    hottest(&sys.path("/sys/class/thermal"), "thermal_zone", "temp")
}

/// Of the device, where its driver tells (NVMe, and SATA with `drivetemp`).
fn temperature(sys: &SysRoot, device: &ListedDevice) -> Option<String> {
    let name = device.path.file_name()?.to_string_lossy().into_owned();
    let below = sys.path(format!("/sys/block/{name}/device"));
    // Some drivers put their sensors right there, others into a folder of their own.
    hottest(&below, "hwmon", "temp1_input").or_else(|| hottest(&below.join("hwmon"), "hwmon", "temp1_input"))
}

/// The highest temperature of all sensors in a folder whose names begin so; sysfs counts in thousandths of a degree.
fn hottest(folder: &Path, prefix: &str, attribute: &str) -> Option<String> {
    let sensors = names(folder).into_iter().filter(|name| name.starts_with(prefix));
    let read =
        |name: String| std::fs::read_to_string(folder.join(name).join(attribute)).ok()?.trim().parse::<i64>().ok();
    sensors.filter_map(read).max().map(|thousandths| format!("{:.1}", thousandths as f64 / 1000.0))
}

/// The governors in force, each once; `None` where frequencies are not the kernel's affair (most virtual machines).
fn governors(sys: &SysRoot, processors: &[String]) -> Option<String> {
    let governor = |cpu: &String| sys.text(format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"));
    let mut all: Vec<String> = processors.iter().filter_map(governor).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| all.join(", "))
}
