//! `lab status`: what the queue says.

use crate::args::{Cli, Status};
use crate::prepare::plan_name;
use crate::run::print;
use anyhow::Result;
use flashscope_supervisor::Folder;

pub(crate) fn run(args: &Status, cli: &Cli) -> Result<u8> {
    if let Some(server) = &args.server {
        return crate::hosts::status(server, &args.results, cli);
    }
    let name = match (&args.dir, &args.plan) {
        (Some(_), _) | (None, None) => String::new(),
        (None, Some(plan)) => plan_name(plan)?,
    };
    let folder = Folder::of(args.dir.as_deref(), &name)?;
    let record = flashscope_supervisor::status(&folder)?;
    print(&record, &args.results, cli)?;
    Ok(0)
}
