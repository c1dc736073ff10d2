//! The experiments on targets without an inside: what is asked of the device, in which order, and what comes back.

mod classic;
mod common;
mod drives;
mod endings;
mod modern;
mod plans;
