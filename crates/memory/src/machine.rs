//! What the machine tells of its memory: how much there is, who limits it, which pages, which caches.

use flashscope_model::memory::{Setup, ToldCache};
use flashscope_units::Bytes;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::path::{Path, PathBuf};

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) setup: Setup,
    /// Data caches of the first processor, by level.
    pub(crate) caches: Vec<ToldCache>,
}

impl Machine {
    /// The one that this program runs on.
    pub(crate) fn look() -> Machine {
        Machine::of(&Root(PathBuf::from("/")), allowed())
    }

    fn of(root: &Root, processors: Vec<u32>) -> Machine {
        let meminfo = root.text("proc/meminfo").unwrap_or_default();
        let kib = |name: &str| field(&meminfo, name).map(|kib| Bytes(kib << 10));
        let group = root.group();
        let available = kib("MemAvailable").or_else(|| kib("MemFree")).unwrap_or(Bytes::ZERO);
        let thp = "sys/kernel/mm/transparent_hugepage/";
        let huge_page = root.number(&format!("{thp}hpage_pmd_size")).map(Bytes);
        let setup = Setup {
            processor_name: root.processor_name(),
            instructions: flashscope_kernels::stream::Instructions::best().word().to_owned(),
            total: kib("MemTotal").unwrap_or(Bytes::ZERO),
            available: group.free.map_or(available, |free| free.min(available)),
            limit: group.limit,
            swap: kib("SwapTotal").unwrap_or(Bytes::ZERO),
            locked: false,
            page: Bytes(rustix::param::page_size() as u64),
            huge_page,
            huge_mode: root.text(&format!("{thp}enabled")).and_then(|all| chosen(&all)),
            hypervisor: root.hypervisor(),
            processors,
        };
        let caches = root.caches(setup.processors.first().copied().unwrap_or(0));
        Machine { setup, caches }
    }
}

/// Processors that this program may run on.
fn allowed() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).map(|at| at as u32).collect()
}

/// The file system below which the kernel tells.
struct Root(PathBuf);

/// What a control group allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    limit: Option<Bytes>,
    /// What may still be taken.
    free: Option<Bytes>,
}

impl Root {
    /// A file's text without blanks at its ends; `None` where it cannot be read or has none.
    fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.0.join(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// The tightest limit of the control groups that this program is in.
    fn group(&self) -> Group {
        let Some(list) = self.text("proc/self/cgroup") else { return Group::default() };
        let place = |line: &str| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            let path = path.trim_start_matches('/').to_owned();
            match controllers {
                "" => Some(("sys/fs/cgroup", path, ["memory.max", "memory.current"])),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    Some(("sys/fs/cgroup/memory", path, ["memory.limit_in_bytes", "memory.usage_in_bytes"]))
                }
                _ => None,
            }
        };
        let mut found = Group::default();
        for (base, path, [limit, used]) in list.lines().filter_map(place) {
            // Every group above limits those below.
            for group in Path::new(&path).ancestors() {
                let of = |file: &str| self.number(&Path::new(base).join(group).join(file).to_string_lossy());
                // Version 1 writes a number near the largest where there is no limit.
                let Some(limit) = of(limit).filter(|limit| *limit < 1 << 60) else { continue };
                let stat = self.text(&Path::new(base).join(group).join("memory.stat").to_string_lossy());
                // Pages of files are given back as soon as memory is wanted.
                let files = stat.as_deref().and_then(|stat| field(stat, "inactive_file")).unwrap_or(0);
                let free = limit.saturating_sub(of(used).unwrap_or(0).saturating_sub(files));
                found.limit = Some(found.limit.map_or(Bytes(limit), |other| other.min(Bytes(limit))));
                found.free = Some(found.free.map_or(Bytes(free), |other| other.min(Bytes(free))));
            }
        }
        found
    }

    fn processor_name(&self) -> Option<String> {
        let info = self.text("proc/cpuinfo")?;
        let named = |wanted: &str| {
            let fields = info.lines().filter_map(|line| line.split_once(':'));
            fields.filter(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim().to_owned()).next()
        };
        named("model name").or_else(|| self.text("proc/device-tree/model")).or_else(|| named("Hardware"))
    }

    /// Who runs the machine, where it says that it is a virtual one.
    fn hypervisor(&self) -> Option<String> {
        let said = self.text("sys/hypervisor/type");
        let info = self.text("proc/cpuinfo").unwrap_or_default();
        let flagged =
            info.lines().any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"));
        let vendor = || self.text("sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "unknown".to_owned());
        said.or_else(|| flagged.then(vendor))
    }

    /// Data caches as sysfs tells of them.
    fn caches(&self, processor: u32) -> Vec<ToldCache> {
        let folder = format!("sys/devices/system/cpu/cpu{processor}/cache");
        let mut caches: Vec<ToldCache> = (0..8)
            .filter_map(|index| {
                let of = |file: &str| self.text(&format!("{folder}/index{index}/{file}"));
                (of("type")? != "Instruction").then_some(())?;
                let number = |file: &str| of(file).and_then(|text| text.parse::<u64>().ok()).filter(|value| *value > 0);
                Some(ToldCache {
                    level: number("level")? as u32,
                    size: Bytes(number_of_kib(&of("size")?)?),
                    line: number("coherency_line_size").map(Bytes),
                    ways: number("ways_of_associativity").map(|ways| ways as u32),
                    shared_by: of("shared_cpu_list").map_or(1, |list| listed(&list)),
                    source: "sysfs".to_owned(),
                })
            })
            .collect();
        caches.sort_by_key(|cache| cache.level);
        caches
    }
}

/// The first number behind a name, as in `/proc/meminfo`.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let rest = lines.find(|rest| rest.starts_with([':', ' ']))?;
    rest.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

/// The word in brackets of `always [madvise] never`.
fn chosen(all: &str) -> Option<String> {
    let (_, rest) = all.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// `32K`, as sysfs writes sizes.
fn number_of_kib(text: &str) -> Option<u64> {
    text.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
}

/// How many a list such as `0-3,8` names.
fn listed(list: &str) -> u32 {
    let one = |part: &str| -> Option<u32> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(last.trim().parse::<u32>().ok()?.checked_sub(first.trim().parse().ok()?)? + 1)
    };
    list.split(',').filter_map(one).sum::<u32>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of files that a kernel would have, gone when it is dropped.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Tree {
            let root = std::env::temp_dir().join(format!("flashscope-machine-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Tree(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: &str =
        "MemTotal:       16000 kB\nMemFree:  1 kB\nMemAvailable:   8000 kB\nSwapTotal:       500 kB\n";

    #[test]
    fn the_tightest_group_counts() {
        let tree = Tree::new(
            "group",
            &[
                ("proc/meminfo", MEMINFO),
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                ("sys/fs/cgroup/a/memory.max", "6144000\n"),
                ("sys/fs/cgroup/a/memory.current", "2048000\n"),
                ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 1024000\n"),
                ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
                ("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n"),
            ],
        );
        let setup = Machine::of(&Root(tree.0.clone()), vec![0]).setup;
        assert_eq!((setup.total, setup.swap), (Bytes::kib(16000), Bytes::kib(500)));
        assert_eq!(setup.limit, Some(Bytes(6144000)));
        assert_eq!(setup.available, Bytes(6144000 - 1024000));
        assert_eq!((setup.huge_mode.as_deref(), setup.huge_page), (Some("madvise"), Some(Bytes::mib(2))));
    }

    #[test]
    fn without_a_group_what_is_available_counts() {
        let old = "9:name=systemd:/x\n4:cpu,memory:/y\n";
        let unlimited = "9223372036854771712\n";
        let files = [("proc/meminfo", MEMINFO), ("proc/self/cgroup", old)];
        let tree = Tree::new("old", &[files[0], files[1], ("sys/fs/cgroup/memory/y/memory.limit_in_bytes", unlimited)]);
        let setup = Machine::of(&Root(tree.0.clone()), vec![0]).setup;
        assert_eq!((setup.limit, setup.available), (None, Bytes::kib(8000)));
        assert_eq!((setup.huge_mode, setup.huge_page), (None, None));
        let tree = Tree::new(
            "older",
            &[
                files[0],
                files[1],
                ("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "4096000"),
                ("sys/fs/cgroup/memory/y/memory.usage_in_bytes", "96000"),
            ],
        );
        assert_eq!(Machine::of(&Root(tree.0.clone()), vec![0]).setup.available, Bytes(4000000));
    }

    #[test]
    fn instruction_caches_are_none_of_data() {
        let at = |index: u32, file: &str| format!("sys/devices/system/cpu/cpu2/cache/index{index}/{file}");
        let mut files = Vec::new();
        for (index, level, kind, size) in
            [(0, "1", "Data", "32K"), (1, "1", "Instruction", "64K"), (2, "3", "Unified", "8192K")]
        {
            files.extend([(at(index, "level"), level), (at(index, "type"), kind), (at(index, "size"), size)]);
        }
        files.push((at(2, "shared_cpu_list"), "0-3,8"));
        files.push((at(0, "coherency_line_size"), "64"));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let tree = Tree::new("caches", &files);
        let caches = Machine::of(&Root(tree.0.clone()), vec![2]).caches;
        let found: Vec<_> = caches.iter().map(|cache| (cache.level, cache.size, cache.line, cache.shared_by)).collect();
        assert_eq!(found, [(1, Bytes::kib(32), Some(Bytes(64)), 1), (3, Bytes::mib(8), None, 5)]);
    }
}
