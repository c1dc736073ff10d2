//! `flashscope-serve`, the program behind `flashscope serve`: a local web page over the history, labs and simulated runs.
//!
//! The only program with an async runtime: [`web`] is where requests come in, past [`guard`], to the pages (`records`, `devices`,
//! `compare`, `labs`, `runs`). It reads histories and queues and renders with the crates that make every other report. It starts
//! one program, `flashscope`, in two ways: to compare records of the history, and to measure on a [`simulated`] device. There is
//! no third one, so that nothing that a browser sends can write to a real device. Exit codes: 0 done, 2 usage or environment.

mod app;
mod args;
mod asset;
mod attention;
mod compare;
mod devices;
mod guard;
mod home;
mod labs;
mod listen;
mod live;
mod oops;
mod page;
mod records;
mod runs;
mod scratch;
mod secret;
mod simulated;
mod start;
mod trends;
mod web;

use clap::Parser;
use flashscope_console as console;
use flashscope_supervisor::worker;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Started by this program itself, in the place of which the worker then runs.
    if words.get(1).is_some_and(|word| word == worker::BECOME) {
        return worker::become_worker(&words[2..]);
    }
    console::ended(start::run(&args::Cli::parse()))
}
