//! What state a device is in, for its registers, for the truth, and for the file that it is saved in.

use super::SimTarget;
use crate::ageing::{self, AgeingParams};
use crate::content::Contents;
use crate::fault::{Place, Placement};
use crate::ftl::{Extent, Ftl, Inside, Saved, UseOfLife};
use crate::noise::NoiseSource;
use crate::spec::Spec;
use flashscope_device::Op;
use flashscope_units::Bytes;

impl SimTarget {
    /// What the registers of health say now stands in the facts. Only a device that ages has such.
    pub(super) fn read_registers(&mut self) {
        if let Some(ageing) = &self.ageing {
            let used = self.device.use_of_life();
            self.facts.claims.health = ageing::health(self.facts.kind, ageing, used, self.written);
        }
    }

    pub(super) fn note_written(&mut self, length: Bytes) {
        self.written += length;
        self.read_registers();
    }

    pub(crate) fn inside(&self) -> Inside {
        self.device.inside()
    }

    pub(crate) fn use_of_life(&self) -> UseOfLife {
        self.device.use_of_life()
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    pub(crate) fn model_text(&self) -> &str {
        &self.model_text
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// What there is to save of a copy that was switched off.
    pub(crate) fn switched_off(&self) -> Saved {
        self.device.switched_off(self.now.max(self.settled))
    }

    /// Puts a new device into a saved state, in surroundings that follow from `seed`.
    pub(crate) fn switch_on(
        &mut self,
        contents: Contents,
        written: Bytes,
        flash: Saved,
        seed: u64,
        spec: &Spec,
    ) -> Result<(), String> {
        self.device.restore(flash)?;
        (self.contents, self.written) = (contents, written);
        self.noise = NoiseSource::new(&spec.model.noise, seed);
        self.read_registers();
        Ok(())
    }

    pub(crate) fn written(&self) -> Bytes {
        self.written
    }

    pub(crate) fn ageing(&self) -> Option<&AgeingParams> {
        self.ageing.as_ref()
    }

    /// What is really there: less than the facts say, where they lie.
    pub(crate) fn real_capacity(&self) -> Bytes {
        self.contents.capacity()
    }

    /// Whether the flash is so worn that the request fails and changes nothing.
    pub(super) fn is_worn_out_for(&self, op: Op, placements: &[Placement]) -> bool {
        let write = match op {
            Op::Write { .. } | Op::Discard => true,
            Op::Read => false,
            Op::Flush => return false,
        };
        let fails = |placement: &Placement| match placement.place {
            Place::Medium(at) => self.device.fails(self.now, Extent::new(at, placement.length), write),
            Place::Zeros | Place::Garbage | Place::Nowhere => false,
        };
        self.ageing.is_some() && placements.iter().any(fails)
    }
}
