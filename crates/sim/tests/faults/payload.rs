//! One who keeps the bytes himself, as an emulator does: he must come to the same as the device.

use crate::common::{CARD, Host, KIB4};
use flashscope_device::{ExecuteExt, Fill, Target};
use flashscope_model::Direction;
use flashscope_sim::{MediumBytes, MediumChange, Place, Source};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// By block of the medium: which write's data for which address of the device stand there.
type Medium = BTreeMap<u64, MediumBytes>;

fn follow(medium: &mut Medium, changes: Vec<MediumChange>) {
    for MediumChange { at, length, now } in changes {
        for block in 0..length.get().div_ceil(512) {
            let offset = Bytes(block * 512);
            let now = match now {
                MediumBytes::Of { request, addressed } => MediumBytes::Of { request, addressed: addressed + offset },
                other => other,
            };
            medium.insert((at + offset) / Bytes(512), now);
        }
    }
}

#[test]
fn the_changes_of_the_medium_are_what_a_power_cut_leaves() {
    for faults in [
        "write_cache=64KiB,drain_after=50ms",
        "write_cache=256KiB,torn=true,reordered=true,power_cut_after=280",
        "misdirected=0.1,lost=0.1",
        "fake=wrap-around,real_capacity=16MiB,write_cache=1MiB,drain_after=20ms",
        "fake=limbo,real_capacity=16MiB",
        "rollback=1.0,rollback_by=50ms,write_cache=64KiB",
        "neighbours=1.0,write_cache=256KiB,power_cut_after=280",
    ] {
        let mut host = Host::new(&format!("{CARD},{faults}"), 5);
        let mut medium = Medium::new();
        host.target.medium_changes();
        for i in 1..=300u32 {
            let length = KIB4 * u64::from(i % 5 + 1);
            let request = host.writing(KIB4 * (u64::from(i) * 7919 % 16_000), length, i, i % 11 == 0);
            if host.target.execute(request).is_err() {
                break;
            }
            follow(&mut medium, host.target.medium_changes());
        }
        if host.target.gone().is_none() {
            host.target.cut_power().unwrap();
        }
        follow(&mut medium, host.target.medium_changes());
        host.target.power_on();
        same(&mut host, &medium, faults);
    }
}

fn same(host: &mut Host, medium: &Medium, faults: &str) {
    let mut seen = 0;
    for sector in 0..host.target.facts().capacity / Bytes(512) {
        let address = Bytes(sector * 512);
        let placement = host.target.resolve(address, Bytes(512), Direction::Read)[0];
        let Place::Medium(at) = placement.place else { continue };
        let expect = match medium.get(&(at / Bytes(512))) {
            None => continue,
            Some(MediumBytes::Garbage) => Source::Garbage,
            Some(MediumBytes::Erased) => Source::Erased(0xff),
            Some(&MediumBytes::Of { request, addressed }) => {
                let fill = Fill::Tagged { generation: request as u32 };
                if addressed == address { Source::Written(fill) } else { Source::Misplaced(fill, addressed) }
            }
        };
        assert_eq!(host.target.held(address, Bytes(512)), [(Bytes(512), expect)], "{faults}: {address}");
        seen += 1;
    }
    assert!(seen > 500, "{faults}: only {seen} sectors were written");
}
