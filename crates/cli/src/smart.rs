//! What NVMe and ATA drives say of their wear, by `smartctl` of smartmontools where that is installed; other drives are never asked so.

use flashscope_host::ListedDevice;
use flashscope_host::purge::Tools;
use flashscope_model::{DeviceKind, Health};
use flashscope_units::Bytes;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// How long a drive may take to answer. One that is asleep is left asleep.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a device says of its wear: what the kernel shows, else what `smartctl` does.
pub(crate) fn health(device: &ListedDevice) -> Option<Health> {
    device.claims.health.or_else(|| asked(device.kind, &device.path, &smartctl))
}

/// The same with somebody who answers for `smartctl`.
fn asked(kind: DeviceKind, path: &Path, answer: &dyn Fn(&Path) -> Option<String>) -> Option<Health> {
    match kind {
        DeviceKind::Nvme | DeviceKind::Scsi => of_report(&answer(path)?),
        _ => None,
    }
}

fn smartctl(path: &Path) -> Option<String> {
    let tools = Tools { ask: PATIENCE, ..Tools::in_path(std::env::var_os("PATH").unwrap_or_default()) };
    let arguments = ["--json", "--attributes", "--nocheck=standby"].map(OsStr::new);
    tools.told("smartctl", &[&arguments[..], &[path.as_os_str()]].concat())
}

/// Data units of NVMe's health log: thousands of 512 bytes (NVM Express Base Specification, SMART / Health Information).
const NVME_UNIT: Bytes = Bytes(512_000);

/// What a report of `smartctl --json` says; `None` where it says nothing of wear.
fn of_report(text: &str) -> Option<Health> {
    let report: Value = serde_json::from_str(text).ok()?;
    let health = match report.get("nvme_smart_health_information_log") {
        Some(log) => of_nvme(log),
        None => of_ata(&report),
    };
    (health != Health::default()).then_some(health)
}

fn of_nvme(log: &Value) -> Health {
    let small = |name: &str| log.get(name)?.as_u64().map(|value| value.min(u64::from(u8::MAX)) as u8);
    Health {
        used_percent: small("percentage_used"),
        spare_percent: small("available_spare"),
        written: log
            .get("data_units_written")
            .and_then(Value::as_u64)
            .and_then(|units| NVME_UNIT.get().checked_mul(units))
            .map(Bytes),
        ..Health::default()
    }
}

/// Of ATA drives each maker has attributes of its own; taken are those whose name, as smartctl's drive database gives it, says what they are.
fn of_ata(report: &Value) -> Health {
    let table = report.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let attribute = |name: &str| table?.iter().find(|row| row.get("name").and_then(Value::as_str) == Some(name));
    // The normalised value goes from 100 down; above it was never used.
    let left = |names: &[&str]| {
        let value = names.iter().find_map(|name| attribute(name)?.get("value")?.as_u64())?;
        u8::try_from(value).ok().filter(|value| *value <= 100)
    };
    let percent =
        |place: &str| report.pointer(place).and_then(Value::as_u64).and_then(|value| u8::try_from(value).ok());
    let written = |(name, unit): &(&str, u64)| {
        let raw = attribute(name)?.pointer("/raw/value")?.as_u64()?;
        raw.checked_mul(*unit).map(Bytes)
    };
    Health {
        used_percent: percent("/endurance_used/current_percent").or_else(|| Some(100 - left(&LIFE_LEFT)?)),
        spare_percent: percent("/spare_available/current_percent").or_else(|| left(&SPARE_LEFT)),
        written: WRITTEN.iter().find_map(written),
        ..Health::default()
    }
}

/// Attributes whose normalised value is the share of the rated life that is left.
const LIFE_LEFT: [&str; 4] =
    ["Percent_Lifetime_Remain", "SSD_Life_Left", "Media_Wearout_Indicator", "Wear_Leveling_Count"];
/// Attributes whose normalised value is the share of spare blocks that is left.
const SPARE_LEFT: [&str; 1] = ["Available_Reservd_Space"];
/// Attributes that count what was written, each with its unit in bytes.
const WRITTEN: [(&str, u64); 5] = [
    ("Total_LBAs_Written", 512),
    ("Host_Writes_32MiB", 32 << 20),
    ("Host_Writes_GiB", 1 << 30),
    ("Lifetime_Writes_GiB", 1 << 30),
    ("Total_Writes_GiB", 1 << 30),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports with the fields of smartmontools 7.3 and 7.4, made by hand: no drive was at hand.
    const NVME: &str = include_str!("../tests/cli/fixtures/smartctl-nvme.json");
    const ATA: &str = include_str!("../tests/cli/fixtures/smartctl-ata.json");

    #[test]
    fn reports_of_nvme_and_ata_drives_are_read() {
        let nvme = of_report(NVME).unwrap();
        assert_eq!((nvme.used_percent, nvme.spare_percent), (Some(3), Some(100)));
        assert_eq!(nvme.written, Some(Bytes(62_786_553 * 512_000)));
        let ata = of_report(ATA).unwrap();
        assert_eq!((ata.used_percent, ata.spare_percent), (Some(7), Some(99)));
        assert_eq!(ata.written, Some(Bytes(23_456_789_012 * 512)));
        assert_eq!((ata.life_time_a, ata.pre_end_of_life), (None, None), "registers of other parts");
    }

    #[test]
    fn what_says_nothing_of_wear_is_no_health() {
        for text in
            ["", "{}", "[1]", r#"{"ata_smart_attributes":{"table":[{"id":9,"name":"Power_On_Hours","value":95}]}}"#]
        {
            assert_eq!(of_report(text), None, "{text}");
        }
        let new = r#"{"ata_smart_attributes":{"table":[{"id":177,"name":"Wear_Leveling_Count","value":200}]}}"#;
        assert_eq!(of_report(new), None, "a value that is no percentage");
    }

    #[test]
    fn only_drives_that_may_know_are_asked() {
        let asked = |kind| {
            let count = std::cell::Cell::new(0);
            asked(kind, Path::new("/dev/x"), &|_| {
                count.set(count.get() + 1);
                None
            });
            count.get()
        };
        for kind in
            [DeviceKind::Emmc, DeviceKind::SdCard, DeviceKind::Usb, DeviceKind::Loop, DeviceKind::File, DeviceKind::Ufs]
        {
            assert_eq!(asked(kind), 0, "{kind:?}");
        }
        assert_eq!((asked(DeviceKind::Nvme), asked(DeviceKind::Scsi)), (1, 1));
    }
}
