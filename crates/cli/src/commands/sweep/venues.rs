//! The places that apps are played in under conditions: one for each device.

use super::course::give_up;
use super::vary::Varied;
use crate::args::Sweep as Args;
use crate::commands::app::{Program, Venue};
use crate::error::Failure;
use crate::output;
use flashscope_host::SysRoot;
use flashscope_model::app::AppRecord;
use flashscope_model::envelope::State;
use flashscope_model::sweep::Condition;
use std::collections::BTreeMap;
use std::path::Path;

/// Places with their players, by what [`Varied::venue`] calls them.
pub(super) struct Venues(BTreeMap<String, Venue>);

impl Venues {
    /// Opens them all; emulated devices bring knobs of the kernel along. Conditions whose device cannot be had are taken out, and come
    /// back with the reason.
    ///
    /// # Errors
    /// That of the baseline cannot be had.
    pub(super) fn open(
        args: &Args,
        program: &Program,
        sys: &SysRoot,
        varied: &mut Varied,
    ) -> Result<(Venues, Vec<Condition>), Failure> {
        let (mut venues, mut refused) = (Venues(BTreeMap::new()), Vec::new());
        for (at, condition) in std::mem::take(&mut varied.conditions).into_iter().enumerate() {
            match venues.add(args, program, sys, varied, &condition) {
                Ok(()) => varied.conditions.push(condition),
                Err(failure) if at == 0 => return Err(failure),
                Err(failure) => give_up(condition, failure.to_string(), &mut refused),
            }
        }
        Ok((venues, refused))
    }

    fn add(
        &mut self,
        args: &Args,
        program: &Program,
        sys: &SysRoot,
        varied: &mut Varied,
        condition: &Condition,
    ) -> Result<(), Failure> {
        let name = varied.venue(args, condition);
        if self.0.contains_key(&name) {
            return Ok(());
        }
        let settings = varied.app_settings(args, condition)?;
        let venue = Venue::open("sweep", &varied.target(args, condition), program, settings)?;
        if let Some(device) = venue.device().filter(|_| args.target.target.starts_with("sim:")) {
            varied.adopt(sys, &name, device)?;
        }
        self.0.insert(name, venue);
        Ok(())
    }

    /// Brings about what a condition says of apps.
    ///
    /// # Errors
    /// The file system cannot be made or mounted so.
    pub(super) fn set(&mut self, args: &Args, varied: &Varied, condition: &Condition) -> Result<(), Failure> {
        let settings = varied.app_settings(args, condition)?;
        self.0.get_mut(&varied.venue(args, condition)).map_or(Ok(()), |venue| venue.change(settings))
    }

    /// Plays all apps once under a condition that was set.
    ///
    /// # Errors
    /// They cannot be played at all.
    pub(super) fn run(
        &mut self,
        args: &Args,
        varied: &Varied,
        condition: &Condition,
        seed: u64,
    ) -> Result<AppRecord, Failure> {
        let name = varied.venue(args, condition);
        let venue = self.0.get_mut(&name).unwrap_or_else(|| unreachable!("{name} was opened with its condition"));
        venue.run(seed, args.turns.pause)
    }

    /// The state that the device of a condition was brought into.
    pub(super) fn state(&self, name: &str) -> Option<&State> {
        self.0.get(name)?.state()
    }

    /// A block device among them.
    pub(super) fn device(&self) -> Option<&Path> {
        self.0.values().find_map(Venue::device)
    }

    /// The end: what must be known of the runs is said.
    ///
    /// # Errors
    /// A device did not take what was written.
    pub(super) fn close(self) -> Result<(), Failure> {
        for (name, venue) in self.0 {
            venue.close()?.iter().for_each(|remark| output::talk(&format!("{name}: {remark}")));
        }
        Ok(())
    }
}
