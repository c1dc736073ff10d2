//! Black-box tests of the binary.

mod bench;
mod black_box;
mod devices;
mod faults;
mod harness;
mod iozone;
mod readme;
