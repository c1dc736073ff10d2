//! `mem`: what the memory beside the storage does. Measured by a program of its own beside this one.

mod beside;
mod program;
mod stress;

use crate::args::{Mem, MemCommand, MemCommon, MemKernel, MemSize};
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use flashscope_host::{Surroundings, SysRoot};
use flashscope_mem::wire::{BandwidthTest, Limits, Order, SizeTest, Test};
use flashscope_model::memory::Kernel;
use flashscope_model::{AnyRecord, Kind};

pub(crate) fn run(args: &Mem) -> Result<Outcome, Failure> {
    match &args.command {
        MemCommand::Stress(args) => stress::run(args),
        MemCommand::Bandwidth(args) => {
            let word = |kernel: &MemKernel| Kernel::from(*kernel).word().to_owned();
            let kernels = args.kernel.iter().map(word).collect();
            let test = BandwidthTest { kernels, array: args.size.map(|size| size.get()) };
            measure("mem bandwidth", vec![Test::Bandwidth(test)], args.threads, &args.common)
        }
        MemCommand::Latency(args) => measure("mem latency", vec![Test::Latency(size(&args.size))], None, &args.common),
        MemCommand::Loaded(args) => {
            measure("mem loaded", vec![Test::Loaded(size(&args.size))], args.threads, &args.common)
        }
        MemCommand::Inspect(args) => measure("mem inspect", vec![Test::Inspect(size(&args.size))], None, &args.common),
        MemCommand::All(args) => {
            let size = SizeTest::default();
            let tests = vec![Test::Bandwidth(BandwidthTest::default()), Test::Loaded(size), Test::Inspect(size)];
            measure("mem all", tests, args.threads, &args.common)
        }
    }
}

fn size(size: &MemSize) -> SizeTest {
    SizeTest { most: size.size.map(|size| size.get()) }
}

/// What the record says was measured.
const TARGET: &str = "memory";

/// Has it measured, keeps the record, and shows it.
fn measure(command: &str, tests: Vec<Test>, threads: Option<u32>, common: &MemCommon) -> Result<Outcome, Failure> {
    let mut door = output::door::<&str>(common.results.replace.force, []);
    let outputs = report::outputs(&mut door, None, &common.results.output)?;
    let limits = Limits {
        time: common.time.get(),
        threads,
        huge: !common.small_pages,
        memory: common.memory.map(|size| size.get()),
    };
    let here = Surroundings::on(&SysRoot::live(), None);
    let mut envelope = envelope::begin(Kind::Memory, command, TARGET, &here);
    let measured = program::run(&Order { tests, limits })?;
    envelope::seal(&mut envelope, Some(&here));
    let record = measured.with(envelope)?;
    let mut saved = Saved::default();
    let stop = record.envelope.stop.clone();
    let record = AnyRecord::Memory(Box::new(record));
    report::save(&mut saved, &outputs, &record);
    history::keep(|| flashscope_record::any_to_json(&record));
    let AnyRecord::Memory(record) = record else { return Ok(Outcome::Done) };
    saved.after(output::data(&if common.results.json {
        flashscope_record::to_json(record.as_ref())
    } else {
        flashscope_report::memory::terminal(&record, output::style())
    }))?;
    envelope::exit(&stop)
}
