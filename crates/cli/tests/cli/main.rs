//! Black-box tests of the binary.

mod bench;
mod black_box;
mod devices;
mod emulate;
mod faults;
mod fio;
mod harness;
mod iozone;
mod readme;
mod twin;
