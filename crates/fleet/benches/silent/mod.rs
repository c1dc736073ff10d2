//! How a fleet is watched in benches.

use flashscope_fleet::{DeviceRun, Watch};
use flashscope_host::load::usage::CpuTime;
use flashscope_units::Nanos;

/// Says nothing but which device has no result, and counts processor time, as a busy machine must not give a device up.
pub(crate) struct Silent;

impl Watch for Silent {
    fn clock(&self) -> Nanos {
        let spent = CpuTime::of_this_thread();
        spent.user + spent.system
    }

    fn stop(&self) -> bool {
        false
    }

    fn done(&self, device: &DeviceRun) {
        if let Some(why) = &device.failure {
            eprintln!("no result for device {}: {why}", device.index);
        }
    }
}
