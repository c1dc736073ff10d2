//! The flashscope command line.

fn main() {}
