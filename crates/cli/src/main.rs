//! The flashscope command line: arguments → a validated plan → a run → a record → a report.
//!
//! The only crate that prints. stdout is data and has one writer ([`output`]); stderr is talk. Exit
//! codes: 0 done, 1 an expectation failed, 2 usage or environment, 3 refused for safety. Start
//! at [`args`] for what can be typed and at [`commands`] for what then happens.

mod args;
mod beside;
mod commands;
mod envelope;
mod error;
mod input;
mod interrupt;
mod making;
mod mkfs;
mod near;
mod output;
mod progress;
mod settings;
mod smart;
mod target;
mod whose;

use args::{Command, Usage};
use error::{Failure, Outcome};
use settings::Settings;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Started by this program itself, before anything of an operator's is read.
    if words.get(1).is_some_and(|word| word == commands::integrity::WORKER) {
        return commands::integrity::worker();
    }
    let typed = match args::typed(&words) {
        Ok(typed) => typed,
        Err(usage) => return report_usage(&usage),
    };
    let settings = match Settings::load(typed.settings_file()) {
        Ok(settings) => settings,
        Err(failure) => return report_failure(&failure),
    };
    let cli = match typed.over(&words, &settings) {
        Ok(cli) => cli,
        Err(usage) => return report_usage(&usage),
    };
    output::set_manner(cli.manner);
    commands::history::set_keeping(settings.entry("history.keep").is_some_and(|entry| entry.text == "true"));
    let outcome = match cli.command {
        Command::Inspect(args) => commands::inspect::run(args),
        Command::Probe(args) => commands::probe::run(args),
        Command::State(args) => commands::state::run(&args),
        Command::Capacity(args) => commands::capacity::run(&args),
        Command::Integrity(args) => commands::integrity::run(&args),
        Command::Infer(args) => commands::infer::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::App(args) => commands::app::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Compare(args) => commands::compare::run(*args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Qualify(args) => commands::qualify::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::List(args) => commands::list::run(args),
        Command::Mmc(args) => commands::mmc::run(&args),
        Command::Mem(args) => commands::mem::run(&args),
        Command::Sim(args) => commands::sim::run(args),
        Command::Fleet(args) => commands::fleet::run(args),
        Command::History(args) => commands::history::run(&args.handed_on),
        Command::Lab(args) => commands::lab::run(&args.handed_on),
        Command::Serve(args) => commands::serve::run(&args.handed_on),
        Command::Emulate(args) => commands::emulate::run(args),
        Command::Twin(args) => commands::twin::run(args),
        Command::Trace(args) => commands::trace::run(&args),
        Command::Schema { kind } => commands::schema(kind.as_deref()),
        Command::Settings(args) => commands::settings::run(&args, &settings),
        Command::Completions(args) => commands::man::completions(&args),
        Command::Man(args) => commands::man::run(args),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::ExpectationFailed) => ExitCode::from(1),
        Err(failure) => report_failure(&failure),
    }
}

fn report_usage(usage: &Usage) -> ExitCode {
    output::usage(usage).map_or_else(|failure| report_failure(&failure), ExitCode::from)
}

fn report_failure(failure: &Failure) -> ExitCode {
    if matches!(failure, Failure::ClosedPipe) {
        return ExitCode::SUCCESS;
    }
    output::error(&failure.to_string());
    ExitCode::from(failure.exit_code())
}
