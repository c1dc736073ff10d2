//! Black-box tests of the binary.

mod bench;
mod bench_devices;
mod black_box;
mod devices;
mod emulate;
mod faults;
mod fio;
mod harness;
mod hostile;
mod iozone;
mod presets;
mod readme;
mod twin;
