//! The registers that tell of wear, as each class of device has them.

use super::AgeingParams;
use crate::ftl::UseOfLife;
use flashscope_model::{DeviceKind, Health};
use flashscope_units::Bytes;

/// Share of the reserved blocks used up from which on an eMMC warns, and from which on it is urgent (JESD84-B51,
/// `PRE_EOL_INFO`).
const WARNED: f64 = 0.8;
const URGENT: f64 = 0.9;

/// Mean erases of a unit over what it is rated for: the share of the device's life that is used up; above 1 past it.
pub(crate) fn share_of_life(params: &AgeingParams, used: UseOfLife) -> f64 {
    used.erases as f64 / (used.units.max(1) as f64 * f64::from(params.rated_erases))
}

/// What the registers say; `written` counts what the host wrote in all the device's life. None for a class of device that has
/// no such registers: SD cards, and whatever hides behind USB.
pub(crate) fn health(kind: DeviceKind, params: &AgeingParams, used: UseOfLife, written: Bytes) -> Option<Health> {
    let share = share_of_life(params, used);
    match kind {
        DeviceKind::Emmc | DeviceKind::Ufs => Some(Health {
            life_time_b: Some(tenth(share)),
            pre_end_of_life: Some(pre_end_of_life(used)),
            ..Health::default()
        }),
        DeviceKind::Nvme | DeviceKind::Scsi => Some(Health {
            // The NVMe specification (SMART log, byte 5) has whole percents, and values above 254 are 255.
            used_percent: Some((100.0 * share).floor().min(255.0) as u8),
            spare_percent: Some((100.0 * spare_left(used)).round() as u8),
            written: Some(written),
            ..Health::default()
        }),
        _ => None,
    }
}

/// 1 in the first tenth of the rated life, 11 past it.
fn tenth(share: f64) -> u8 {
    (share * 10.0).floor().min(10.0) as u8 + 1
}

fn spare_left(used: UseOfLife) -> f64 {
    if used.spare_when_new == 0 { 1.0 } else { used.spare_left as f64 / used.spare_when_new as f64 }
}

fn pre_end_of_life(used: UseOfLife) -> u8 {
    match 1.0 - spare_left(used) {
        gone if gone >= URGENT => 3,
        gone if gone >= WARNED => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(erases: u64, spare_left: u64) -> UseOfLife {
        UseOfLife { erases, units: 100, replaced: 0, spare_left, spare_when_new: 20 }
    }

    #[test]
    fn registers_follow_the_mean_of_the_erases() {
        let params = AgeingParams { rated_erases: 1000, ..super::super::defaults().try_into().unwrap() };
        let check = |erases: u64, spare: u64, life_time: u8, end: u8, percent: u8, spare_percent: u8| {
            let emmc = health(DeviceKind::Emmc, &params, used(erases, spare), Bytes(7)).unwrap();
            assert_eq!((emmc.life_time_b, emmc.pre_end_of_life), (Some(life_time), Some(end)), "{erases} {spare}");
            let drive = health(DeviceKind::Nvme, &params, used(erases, spare), Bytes(7)).unwrap();
            let registers = (drive.used_percent, drive.spare_percent, drive.written);
            assert_eq!(registers, (Some(percent), Some(spare_percent), Some(Bytes(7))), "{erases} {spare}");
        };
        check(0, 20, 1, 1, 0, 100);
        check(9_999, 20, 1, 1, 9, 100);
        check(10_000, 5, 2, 1, 10, 25);
        check(99_000, 4, 10, 2, 99, 20);
        check(150_000, 2, 11, 3, 150, 10);
        check(900_000, 0, 11, 3, 255, 0);
        assert_eq!(health(DeviceKind::SdCard, &params, used(0, 20), Bytes(7)), None);
    }
}
