//! The tools, played by scripts: what they are told, and what becomes of one that fails, hangs or is not there.

use super::{Tools, ata, nvme};
use flashscope_device::{Availability, PurgeError, PurgeStep};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A directory with one tool in it, which notes what it is told.
struct Bench {
    directory: PathBuf,
    tools: Tools,
}

impl Bench {
    fn with(test: &str, name: &str, script: &str) -> Bench {
        let directory = std::env::temp_dir().join(format!("flashscope-tools-{}-{test}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let told = directory.join("told");
        let text = format!("#!/bin/sh\necho \"$@\" >> {}\n{script}\n", told.display());
        let tool = directory.join(name);
        fs::write(&tool, text).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        let limit = Duration::from_secs(20);
        let tools = Tools { path: directory.clone().into(), ask: limit, work: limit, look: Duration::from_millis(1) };
        Bench { directory, tools }
    }

    fn told(&self) -> Vec<String> {
        let text = fs::read_to_string(self.directory.join("told")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn namespace() -> &'static Path {
    Path::new("/dev/nvme7n1")
}

#[test]
fn a_controller_is_sanitised_and_waited_for() {
    let script = r#"
case $1 in
id-ctrl) echo '{"sanicap":2,"fna":0}' ;;
sanitize-log) if [ -e $0.looked ]; then echo '{"nvme7":{"sstat":257}}'; else touch $0.looked; echo '{"nvme7":{"sstat":2}}'; fi ;;
esac"#;
    let bench = Bench::with("sanitise", "nvme", script);
    let offers = nvme::offers(&bench.tools, namespace(), 1);
    assert_eq!(offers[0], (PurgeStep::NvmeSanitize, Availability::There));
    assert_eq!(offers[1], (PurgeStep::NvmeFormat, Availability::There));
    nvme::sanitize(&bench.tools, namespace(), &mut || true).unwrap();
    let log = "sanitize-log /dev/nvme7 -o json";
    assert_eq!(bench.told(), ["id-ctrl /dev/nvme7 -o json", "sanitize /dev/nvme7 --sanact=2", log, log]);
}

#[test]
fn what_would_purge_others_too_is_not_offered() {
    let bench = Bench::with("others", "nvme", r#"echo '{"sanicap":2,"fna":1}'"#);
    for (step, offer) in nvme::offers(&bench.tools, namespace(), 2) {
        assert!(matches!(&offer, Availability::Absent(why) if why.contains("all 2 namespaces")), "{step:?} {offer:?}");
    }
    let alone = nvme::offers(&bench.tools, namespace(), 1);
    assert!(alone.iter().all(|(_, offer)| *offer == Availability::There));
}

#[test]
fn a_device_that_fails_says_so() {
    let bench = Bench::with("fails", "nvme", r#"[ $1 = sanitize-log ] && echo '{"sstat":3}'; exit 0"#);
    let end = nvme::sanitize(&bench.tools, namespace(), &mut || true);
    assert!(matches!(&end, Err(PurgeError::Failed(why)) if why.contains("failed")), "{end:?}");
    let bench = Bench::with("refuses", "nvme", "echo 'Permission denied' >&2; exit 13");
    let end = nvme::format(&bench.tools, namespace(), &mut || true);
    assert!(matches!(&end, Err(PurgeError::Failed(why)) if why.ends_with("Permission denied")), "{end:?}");
    let offers = nvme::offers(&bench.tools, namespace(), 1);
    assert!(matches!(&offers[0].1, Availability::Absent(why) if why.contains("Permission denied")), "{offers:?}");
}

#[test]
fn a_tool_that_hangs_is_given_up() {
    let mut bench = Bench::with("hangs", "hdparm", "exec sleep 60");
    bench.tools.work = Duration::from_millis(200);
    let begun = Instant::now();
    let end = ata::sanitize(&bench.tools, Path::new("/dev/sdzz"), &mut || true);
    assert!(matches!(&end, Err(PurgeError::Hung(_))) && begun.elapsed() < Duration::from_secs(20), "{end:?}");
    bench.tools.work = Duration::from_secs(50);
    let end = ata::sanitize(&bench.tools, Path::new("/dev/sdzz"), &mut || begun.elapsed() < Duration::from_secs(1));
    assert_eq!(end, Err(PurgeError::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_device_that_never_ends_is_given_up() {
    let mut bench = Bench::with("never", "nvme", r#"[ $1 = sanitize-log ] && echo '{"sstat":2}'; exit 0"#);
    bench.tools.work = Duration::from_millis(300);
    let end = nvme::sanitize(&bench.tools, namespace(), &mut || true);
    assert!(matches!(&end, Err(PurgeError::Hung(_))), "{end:?}");
}

#[test]
fn a_drive_is_sanitised_and_waited_for() {
    let script = r#"
case $1 in
-I) printf '\t   *\tSANITIZE feature set\n\t   *\tBLOCK_ERASE_EXT command\n' ;;
--sanitize-status) if [ -e $0.looked ]; then echo 'Last Sanitize Operation Completed Without Error'
else touch $0.looked; echo '    State:    SD2 Sanitize operation In Process'; fi ;;
esac"#;
    let bench = Bench::with("drive", "hdparm", script);
    let disk = Path::new("/dev/sdzz");
    assert_eq!(ata::offer(&bench.tools, disk), Availability::There);
    ata::sanitize(&bench.tools, disk, &mut || true).unwrap();
    assert_eq!(bench.told()[1], "--yes-i-know-what-i-am-doing --sanitize-block-erase /dev/sdzz");
    let frozen = Bench::with("frozen", "hdparm", "echo '    State:    SD1 Sanitize Frozen'");
    let end = ata::sanitize(&frozen.tools, disk, &mut || true);
    assert!(matches!(&end, Err(PurgeError::Failed(why)) if why.contains("frozen")), "{end:?}");
}

#[test]
fn a_tool_that_is_not_there_is_said_to_be_missing() {
    let mut bench = Bench::with("missing", "other", "exit 0");
    bench.tools.path = bench.directory.clone().into();
    let offer = ata::offer(&bench.tools, Path::new("/dev/sdzz"));
    assert_eq!(offer, Availability::Absent("`hdparm` is not installed".to_owned()));
    assert!(matches!(&nvme::offers(&bench.tools, namespace(), 1)[0].1, Availability::Absent(_)));
}
