//! `flashscope-history`, the program behind `flashscope history`: arguments → a store → an answer.
//!
//! stdout is data and has one writer (`output`); stderr is talk. Exit codes: 0 done, 2 usage or environment.

mod args;
mod commands;
mod output;

use args::Command;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let place = args::place(cli.store);
    let outcome = place.and_then(|place| match cli.command {
        Command::Add(add) => commands::add::run(&place, &add, cli.quiet),
        Command::List(list) => commands::list::run(&place.file, &list),
        Command::Show(show) => commands::show::run(&place.file, &show, cli.color, cli.verbose),
        Command::Compare(compare) => commands::compare::run(&place.file, &compare),
        Command::Trend(trend) => commands::trend::run(&place.file, &trend),
        Command::Export(export) => commands::export::run(&place.file, &export, cli.quiet),
        Command::Prune(prune) => commands::prune::run(&place.file, &prune, cli.quiet),
    });
    match outcome {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
