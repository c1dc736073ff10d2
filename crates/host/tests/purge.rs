//! The purge ladder of loop devices that the test makes itself.

use crate::support::{Loop, Scratch, can_loop, content, machine};
use flashscope_device::{Availability, Consent, Purge, PurgeError, PurgeStep};
use flashscope_host::purge::{HostPurge, Tools};
use flashscope_host::{OpenOptions, SysRoot, open_for_writing, safety};
use flashscope_units::Bytes;

#[test]
fn a_loop_device_has_no_secure_discard_and_keeps_what_it_holds() {
    if !can_loop("a_loop_device_has_no_secure_discard_and_keeps_what_it_holds") {
        return;
    }
    let _machine = machine();
    let scratch = Scratch::new();
    let device = Loop::with(&scratch.file("disk", 4 << 20), &["--direct-io=on"]);
    let before = content(&device.path);
    let sys = SysRoot::live();
    let checked = safety(&sys, &device.path, Bytes::ZERO).unwrap();
    let consent = Consent { identity: checked.report.identity.clone(), ..Consent::default() };
    let options = OpenOptions { read_in_use: false, allow_buffered: false, hang_after: None };
    let (target, grant) = open_for_writing(&sys, &checked, &consent, Bytes::mib(1), &options).unwrap();
    let mut ladder = HostPurge::of(&sys, &target, Tools::in_path("".into())).expect("a block device has a ladder");
    let offers = ladder.offers();
    assert!(matches!(offers[..], [(PurgeStep::SecureDiscard, Availability::Unknown(_))]), "{offers:?}");
    let end = ladder.purge(PurgeStep::SecureDiscard, &grant, &mut || true);
    assert!(matches!(end, Err(PurgeError::Absent(_))), "{end:?}");
    let end = ladder.purge(PurgeStep::MmcSanitize, &grant, &mut || true);
    assert!(matches!(end, Err(PurgeError::Absent(_) | PurgeError::Failed(_))), "{end:?}");
    drop(target);
    assert!(content(&device.path) == before, "something was changed");
}
