//! What is too faint for anybody to tell: a device without noise shows it, and the same device in the field does not.

use super::Parameter;
use flashscope_model::Finding;
use flashscope_sim::truth::Truth;

/// A step inside the page shows where it is no less than this part of what noise typically adds to a request.
///
/// Two levels are told apart by reads at twenty places each, sixteen times, before, across and behind an edge, of which the
/// shortest eighth counts (docs/inference.md). Noise that is distributed exponentially leaves in the mean of two minima of
/// eight 1/8/√2 of what it adds on average; a contrast holds one such mean and half of two others, so that twenty of them leave
/// 1/8 · √(1.5/2) / √20, and the difference of two levels √2 times that: 1/29. Four standard errors are the least by which
/// one of a hundred possible sizes stands out, and they are a seventh. Half as large a step would take four times the reads, and
/// no advice rests on it.
const PART: u64 = 7;

/// Whether noise does not hide what the truth says. Of several channels the truth says itself whether a wait for one is longer
/// than the link and the controller make any two reads wait, by a quarter of the noise.
pub(crate) fn stands_out(parameter: Parameter, truth: &Truth) -> bool {
    match parameter {
        Parameter::Of(Finding::PageInner) => truth.inner_step * PART >= truth.noise,
        Parameter::Of(Finding::Channels) => {
            let channels = truth.drive.as_ref().map(|drive| &drive.channels);
            channels.is_none_or(|channels| channels.can_be_told || channels.value == Some(1))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_sim::truth;

    fn told(changes: &str) -> bool {
        let truth = truth::of(&format!("sd-4mib,{changes}"), |name| Err(format!("no file {name}"))).expect("a model");
        stands_out(Parameter::Of(Finding::PageInner), &truth)
    }

    #[test]
    fn a_step_of_a_seventh_of_the_noise_can_be_told() {
        let inner = "mapping.page_inner=4KiB,mapping.page=8KiB,mapping.read.sense=80us";
        assert!(told(&format!("{inner},mapping.read.inner_edge=11us,noise=field")));
        assert!(!told(&format!("{inner},mapping.read.inner_edge=9us,noise=field")));
        assert!(told(&format!("{inner},mapping.read.inner_edge=9us,noise=none")));
    }
}
