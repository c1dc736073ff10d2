//! Black-box tests of the binary.

mod bench;
mod bench_devices;
mod black_box;
mod card;
mod compare;
mod devices;
mod doors;
mod dry_runs;
mod emulate;
mod faults;
mod fio;
mod forms;
mod harness;
mod hostile;
mod iozone;
mod lost;
mod manner;
mod mistakes;
mod pages;
mod presets;
mod readme;
mod records;
mod terminal;
mod twin;
mod words;
mod write_budget;
