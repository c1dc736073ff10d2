//! A small card with faults, and one request at a time on it.

use flashscope_device::{Completion, DeviceError, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_sim::{SimTarget, open};
use flashscope_units::{Bytes, Instant, Nanos};

/// 64 MiB of the demo card without noise.
pub(crate) const CARD: &str = "sd-4mib,capacity=64MiB,noise=none,mapping.areas.0.start=0,mapping.areas.0.end=4MiB";

pub(crate) fn card(faults: &str) -> Host {
    Host::new(&format!("{CARD},{faults}"), 1)
}

pub(crate) struct Host {
    pub(crate) target: SimTarget,
    pub(crate) grant: WriteGrant,
}

pub(crate) fn tagged(generation: u32) -> Fill {
    Fill::Tagged { generation }
}

impl Host {
    pub(crate) fn new(spec: &str, seed: u64) -> Host {
        let target = open(spec, seed).unwrap_or_else(|error| panic!("{spec}: {error}"));
        let grant = WriteGrant::simulated(target.facts(), Bytes::gib(1 << 20)).unwrap();
        Host { target, grant }
    }

    pub(crate) fn writing(&mut self, at: Bytes, length: Bytes, generation: u32, durable: bool) -> Request {
        Request::write(&mut self.grant, u64::from(generation), at, length, tagged(generation), durable).unwrap()
    }

    pub(crate) fn try_write(&mut self, at: Bytes, length: Bytes, generation: u32) -> Result<Completion, DeviceError> {
        let request = self.writing(at, length, generation, false);
        self.target.execute(request)
    }

    pub(crate) fn write(&mut self, at: Bytes, length: Bytes, generation: u32) {
        assert_eq!(self.try_write(at, length, generation).unwrap().outcome, Outcome::Success);
    }

    pub(crate) fn write_durably(&mut self, at: Bytes, length: Bytes, generation: u32) {
        let request = self.writing(at, length, generation, true);
        assert_eq!(self.target.execute(request).unwrap().outcome, Outcome::Success);
    }

    pub(crate) fn flush(&mut self) {
        assert_eq!(self.target.execute(Request::flush(0)).unwrap().outcome, Outcome::Success);
    }

    pub(crate) fn read(&mut self, at: Bytes, length: Bytes) -> Completion {
        self.target.execute(Request::read(0, at, length)).unwrap()
    }

    /// Whether this stands there.
    pub(crate) fn holds(&mut self, at: Bytes, length: Bytes, generation: u32) -> bool {
        let done = self.target.execute(Request::verify(0, at, length, tagged(generation))).unwrap();
        match done.outcome {
            Outcome::Success => true,
            Outcome::Mismatch => false,
            Outcome::Failed(why) => panic!("{why}"),
        }
    }

    pub(crate) fn pause(&mut self, time: Nanos) {
        self.target.wait_until(self.target.now() + time);
    }

    /// Off and on again.
    pub(crate) fn cycle(&mut self) {
        self.target.cut_power().unwrap();
        assert!(matches!(self.target.execute(Request::flush(0)), Err(DeviceError::Vanished(_))));
        self.target.power_on();
        self.target.check().unwrap();
    }
}

pub(crate) fn at(millis: u64) -> Instant {
    Instant::ORIGIN + Nanos::millis(millis)
}

pub(crate) const KIB4: Bytes = Bytes::kib(4);
