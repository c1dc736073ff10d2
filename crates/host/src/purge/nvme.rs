//! NVMe, through `nvme` (nvme-cli): sanitise of the controller, format of the namespace.

use super::Tools;
use flashscope_device::{Availability, PurgeError, PurgeStep};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const TOOL: &str = "nvme";

/// `SANICAP` of the controller (NVM Express base specification 2.0, figure 275): bit 1, block erase.
const BLOCK_ERASE: u64 = 1 << 1;
/// `FNA`: bits 0 and 1, a format or its erase concerns all namespaces.
const FORMATS_ALL: u64 = 0b11;
/// `SSTAT` of the sanitise log, bits 0 to 2: the last one ended well, …
const ENDED: u64 = 1;
/// … goes on, …
const GOES_ON: u64 = 2;
/// … failed, …
const FAILED: u64 = 3;
/// … or ended well and left what was unmapped as it is.
const ENDED_WITHOUT_DEALLOCATION: u64 = 4;

/// The controller that a namespace's node belongs to (`/dev/nvme0n1` → `/dev/nvme0`).
pub(super) fn controller(namespace: &Path) -> Option<PathBuf> {
    let name = namespace.file_name()?.to_str()?;
    let (controller, number) = name.strip_prefix("nvme")?.split_once('n')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(controller) && digits(number)).then(|| namespace.with_file_name(format!("nvme{controller}")))
}

/// What the controller says that it has.
pub(super) fn offers(tools: &Tools, namespace: &Path, namespaces: usize) -> [(PurgeStep, Availability); 2] {
    let steps = [PurgeStep::NvmeSanitize, PurgeStep::NvmeFormat];
    let both = |availability: Availability| steps.map(|step| (step, availability.clone()));
    if !tools.has(TOOL) {
        return both(Availability::Absent("`nvme` (nvme-cli) is not installed".to_owned()));
    }
    let controller = controller(namespace).unwrap_or_else(|| namespace.to_owned());
    let said = match tools.ask(TOOL, &words(&["id-ctrl"], &controller, &["-o", "json"])) {
        Ok(said) => said,
        Err(error) => return both(Availability::Absent(format!("the controller cannot be asked: {error}"))),
    };
    let alone = namespaces == 1;
    let others = || Availability::Absent(format!("all {namespaces} namespaces of the controller would be purged"));
    let sanitize = match number(&said, "sanicap") {
        Some(bits) if bits & BLOCK_ERASE == 0 => Availability::Absent("the controller has no block erase".to_owned()),
        None => Availability::Absent("the controller does not say whether it sanitises".to_owned()),
        Some(_) if !alone => others(),
        Some(_) => Availability::There,
    };
    let format = match number(&said, "fna") {
        Some(bits) if bits & FORMATS_ALL != 0 && !alone => others(),
        Some(_) => Availability::There,
        None => Availability::Absent("the controller does not say what a format concerns".to_owned()),
    };
    [(steps[0], sanitize), (steps[1], format)]
}

/// Block erase of everything, waited for.
pub(super) fn sanitize(tools: &Tools, namespace: &Path, go_on: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
    let controller = controller(namespace).ok_or_else(|| PurgeError::Absent("it is no NVMe namespace".to_owned()))?;
    tools.work(TOOL, &words(&["sanitize"], &controller, &["--sanact=2"]), go_on)?;
    let log = words(&["sanitize-log"], &controller, &["-o", "json"]);
    tools.await_end(TOOL, &log, go_on, |said| match number(said, "sstat").map(|status| status & 0b111) {
        Some(ENDED | ENDED_WITHOUT_DEALLOCATION) => Some(Ok(())),
        Some(GOES_ON) => None,
        Some(FAILED) => Some(Err(PurgeError::Failed("the controller says that the sanitise failed".to_owned()))),
        _ => Some(Err(PurgeError::Failed("the controller does not say how the sanitise ended".to_owned()))),
    })?;
    Ok("nvme sanitize --sanact=2 (block erase)".to_owned())
}

/// Format with erase of the user data.
pub(super) fn format(tools: &Tools, namespace: &Path, go_on: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
    // Without --force the tool waits for somebody to change his mind; consent was given here.
    tools.work(TOOL, &words(&["format"], namespace, &["--ses=1", "--force"]), go_on)?;
    Ok("nvme format --ses=1 (user data erase)".to_owned())
}

fn words<'a>(before: &[&'a str], device: &'a Path, after: &[&'a str]) -> Vec<&'a OsStr> {
    let [before, after] = [before, after].map(|words| words.iter().map(|word| OsStr::new(*word)));
    before.chain([device.as_os_str()]).chain(after).collect()
}

/// The number behind `"name":`, wherever it stands in the JSON that nvme-cli prints: where it nests it differs between its versions.
fn number(json: &str, name: &str) -> Option<u64> {
    let rest = json.split_once(&format!("\"{name}\""))?.1.trim_start().strip_prefix(':')?.trim_start();
    let digits: String = rest.trim_start_matches('"').chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_names_its_controller() {
        let check = |path: &str, expect: Option<&str>| {
            assert_eq!(controller(Path::new(path)), expect.map(PathBuf::from), "{path}");
        };
        check("/dev/nvme0n1", Some("/dev/nvme0"));
        check("/dev/nvme12n3", Some("/dev/nvme12"));
        check("/dev/nvme0n1p2", None);
        check("/dev/sda", None);
    }

    #[test]
    fn numbers_are_found_wherever_they_stand() {
        assert_eq!(number("{\"nvme0\":{\"sprog\":65535,\"sstat\" : 257}}", "sstat"), Some(257));
        assert_eq!(number("{\"sanicap\":\"3\"}", "sanicap"), Some(3));
        assert_eq!(number("{\"sanicap\":null}", "sanicap"), None);
        assert_eq!(number("{}", "fna"), None);
    }
}
