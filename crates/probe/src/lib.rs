//! The experiments: each does I/O on a target and yields observations.
