//! Hidden periods: which spacing makes the spikes line up?
//!
//! [`find_period`] folds an evenly sampled series (service time by index or by address step); [`spike_period`] works on
//! the positions of events that were already told from the rest. Both weigh a period against no period at all, and
//! against its own divisors and multiples, by BIC: half the period explains every spike too, but promises as many where
//! there are none; twice the period misses every other one.

mod fold;
mod spikes;

pub use fold::{FoldedPeriod, Pattern, PeriodSettings, find_period, fold};
pub use spikes::{SpikePeriod, SpikeSettings, spike_period};
