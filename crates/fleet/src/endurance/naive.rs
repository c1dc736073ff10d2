//! A reader who draws a straight line through the first step of a register: the first error comes when all of the rated life is
//! used, or all of the spare is gone, whichever is sooner.

use flashscope_infer::endurance::life_used;
use flashscope_model::Health;
use flashscope_model::endurance::Pass;
use flashscope_units::Bytes;

/// Capacity-writes at which he expects it; `None` as long as no register has moved.
pub(super) fn first_error(before: Option<&Health>, passes: &[Pass], claimed: Bytes) -> Option<f64> {
    let before = before?;
    let spare = |health: &Health| health.spare_percent.map(|left| 1.0 - f64::from(left) / 100.0);
    let line = |of: &dyn Fn(&Health) -> Option<f64>| {
        let start = of(before)?;
        let mut written = 0.0;
        passes.iter().find_map(|pass| {
            written += pass.written.as_f64() / claimed.as_f64();
            let step = of(&pass.registers?)? - start;
            (step > 0.0).then(|| written * (1.0 - start) / step)
        })
    };
    let (by_life, by_spare) = (line(&life_used), line(&spare));
    by_life.into_iter().chain(by_spare).reduce(f64::min)
}
