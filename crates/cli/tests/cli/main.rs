//! Black-box tests of the binary.

mod bench;
mod bench_devices;
mod black_box;
mod devices;
mod doors;
mod emulate;
mod faults;
mod fio;
mod harness;
mod hostile;
mod iozone;
mod lost;
mod manner;
mod presets;
mod readme;
mod records;
mod twin;
mod words;
mod write_budget;
