//! The page of a record of whatever kind.

use flashscope_model::AnyRecord;

/// The report of a record as one self-contained page, whatever its kind.
pub fn any(record: &AnyRecord) -> String {
    match record {
        AnyRecord::Run(run) => super::html(run),
        AnyRecord::Capacity(capacity) => crate::capacity::html(capacity),
        AnyRecord::Integrity(integrity) => crate::integrity::html(integrity),
        AnyRecord::App(app) => crate::app::html(app),
        AnyRecord::Bench(bench) => crate::bench::html(bench),
        AnyRecord::Iozone(iozone) => crate::iozone::page(iozone),
        AnyRecord::Fleet(fleet) => crate::fleet::html(fleet),
        AnyRecord::Twin(twin) => crate::twin::html(twin),
        AnyRecord::Comparison(comparison) => crate::comparison::html(comparison),
        AnyRecord::Sweep(sweep) => crate::sweep::html(sweep),
        AnyRecord::Trace(trace) => crate::trace::html(trace),
        AnyRecord::Explanation(explanation) => crate::explanation::html(explanation),
        AnyRecord::Qualification(qualification) => crate::qualification::html(qualification),
        AnyRecord::Memory(memory) => crate::memory::html(memory),
        AnyRecord::Lab(lab) => crate::lab::html(lab),
    }
}
