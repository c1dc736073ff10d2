//! Whether a device is as large as it says: the tests that write and read it, over any [`Target`].
//!
//! [`quick`] writes little at chosen places, [`full`] all of it; what either shows is worked out in
//! [`flashscope_infer::capacity`], which also says what a quick test does next. Nothing here knows a clock, a file or a terminal.
//!
//! [`Target`]: flashscope_device::Target

mod full;
mod hands;
mod plan;
mod quick;

pub use full::{Filling, FullPlan, Keep, full, head};
pub use hands::LONG;
pub use plan::{FEWEST_BLOCKS, LEAST_BUDGET, Plan, PlanError, USUAL_BUDGET};
pub use quick::{Outcome, Watch, quick};
