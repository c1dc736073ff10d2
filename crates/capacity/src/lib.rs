//! Whether a device is as large as it says: the tests that write and read it, over any [`Target`].
//!
//! [`quick`] writes little at chosen places; what that shows is worked out in [`flashscope_infer::capacity`], which also says
//! what to do next. Nothing here knows a clock, a file or a terminal.
//!
//! [`Target`]: flashscope_device::Target

mod hands;
mod plan;
mod quick;

pub use plan::{LEAST_BUDGET, Plan, PlanError, USUAL_BUDGET};
pub use quick::{Outcome, Watch, quick};
