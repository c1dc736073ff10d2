//! `flashscope-history`, the program behind `flashscope history`: arguments → a store → an answer.
//!
//! stdout is data and has one writer (`console`); stderr is talk. Exit codes: 0 done, 2 usage or environment.

mod args;
mod commands;

use args::Command;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let place = args::place(cli.store);
    flashscope_console::ended(place.and_then(|place| match cli.command {
        Command::Add(add) => commands::add::run(&place, &add, cli.manner.quiet),
        Command::List(list) => commands::list::run(&place.file, &list),
        Command::Show(show) => commands::show::run(&place.file, &show, cli.manner),
        Command::Compare(compare) => commands::compare::run(&place.file, &compare),
        Command::Trend(trend) => commands::trend::run(&place.file, &trend),
        Command::Export(export) => commands::export::run(&place.file, &export, cli.manner.quiet),
        Command::Import(import) => commands::import::run(&place, &import, cli.manner.quiet),
        Command::Prune(prune) => commands::prune::run(&place.file, &prune, cli.manner.quiet),
    }))
}
