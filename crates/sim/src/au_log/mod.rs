//! The AU-log card: SD cards, eMMC and sticks that map whole allocation units and keep a few of them open.
mod params;

pub(crate) use params::AuLogParams;

use crate::ftl::{Extent, Ftl, Presence, Work};
use crate::model::{Link, Model};
use flashscope_device::Wear;
use flashscope_units::Instant;

/// One card.
#[derive(Clone, Debug)]
pub(crate) struct AuLog {
    link: Link,
    busy_until: Instant,
}

impl AuLog {
    pub(crate) fn new(_params: &AuLogParams, model: &Model, _seed: u64) -> AuLog {
        AuLog { link: model.link.clone(), busy_until: Instant::ORIGIN }
    }
}

impl Ftl for AuLog {
    fn serve(&mut self, now: Instant, _work: Work) -> Instant {
        self.busy_until = now.max(self.busy_until) + self.link.command;
        self.busy_until
    }

    fn idle(&mut self, _from: Instant, _until: Instant) {}

    fn presence(&self, _extent: Extent) -> Presence {
        Presence::All
    }

    fn wear(&self) -> Wear {
        Wear::default()
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
