//! Ground-truth tests: simulated devices, probes and inference together.
//!
//! The product's crates keep apart (a probe cannot see a simulated device); here they meet, so that
//! known devices go in and right answers must come out. Holds helpers for those tests and no product code.

pub mod twins;
