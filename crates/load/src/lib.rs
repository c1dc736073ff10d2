//! The workload engine.
