//! `flashscope-lab`, the program behind `flashscope lab`: a plan → runs → a process for each device → records.
//!
//! It measures nothing itself: it starts `flashscope`, beside which it lies, keeps what became of it, and says so. stdout is data
//! and has one writer (`console`); stderr is talk. Exit codes: 0 done, 1 a run failed, 2 usage or environment, 3 refused for safety.

mod args;
mod calibrate;
mod hosts;
mod neighbours;
mod output;
mod prepare;
mod qualify;
mod result;
mod run;
mod screen;
mod shelf;
mod status;
mod stop;
mod supervise;

use args::Command;
use clap::Parser;
use flashscope_supervisor::worker;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Started by this program itself, in the place of which the worker then runs.
    if words.get(1).is_some_and(|word| word == worker::BECOME) {
        return worker::become_worker(&words[2..]);
    }
    let cli = args::Cli::parse();
    let code = match &cli.command {
        Command::Run(args) => run::run(args, &cli),
        Command::Status(args) => hosts::coded(status::run(args, &cli)),
        Command::Coordinator(args) => hosts::coded(hosts::coordinate(args)),
        Command::Agent(args) => hosts::attend(args, &cli),
        Command::Fleet(args) => hosts::coded(hosts::sail(args, &cli)),
        Command::Submit(args) => hosts::coded(hosts::submit(args)),
        Command::Results(args) => hosts::coded(hosts::results(args, &cli)),
        Command::Limits(args) => calibrate::run(args, &cli),
    };
    flashscope_console::ended(code.map(ExitCode::from))
}
