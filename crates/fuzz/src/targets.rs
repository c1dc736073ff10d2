//! What each target does with a text.

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_load::file::JobText;
use flashscope_load::fio::{self, Input, World};
use flashscope_model::RunRecord;
use flashscope_model::observation::Observations;
use flashscope_record::AnyRecord;
use flashscope_report::Style;
use flashscope_trace::event::Step;
use flashscope_trace::export::Exporter;
use flashscope_trace::file::Reader;
use flashscope_trace::filter::{Addresses, Filtered, Filters, placed};
use flashscope_trace::import::{BEGINNING, Options};
use flashscope_trace::kernel::Layouts;
use flashscope_trace::{Figures, Format, TraceError, Traced};
use flashscope_units::{Bytes, Nanos};

/// A flashbench log, and what is concluded from it.
pub(crate) fn log(text: &[u8]) {
    let parsed = flashscope_transcript::parse_bytes(text);
    let observations = Observations {
        capacity: parsed.observations.capacity,
        runs: parsed.observations.runs,
        ..Observations::default()
    };
    let _ = flashscope_infer::infer(&observations);
}

/// A record, concluded from again and shown in every form.
pub(crate) fn record(text: &[u8]) {
    let Ok(records) = flashscope_record::from_json_many::<RunRecord>(&String::from_utf8_lossy(text)) else { return };
    for mut record in records {
        record.findings = flashscope_infer::infer_on(record.envelope.device.as_ref(), &record.observations);
        forms(&record);
    }
}

/// Every form of a report.
fn forms(record: &RunRecord) {
    let _ = flashscope_report::terminal(record, Style { colour: true, width: 80, verbose: true });
    let _ = flashscope_report::html(record);
    let _ = flashscope_report::markdown(record);
    let _ = flashscope_report::csv(record);
    let _ = flashscope_record::to_json(record);
}

/// A record of any kind but that of a run, in every form.
pub(crate) fn any_record(text: &[u8]) {
    let Ok(record) = flashscope_record::read(&String::from_utf8_lossy(text)) else { return };
    if let AnyRecord::Bench(record) = &record {
        let _ = flashscope_report::bench::terminal(record, Style { colour: false, width: 80, verbose: true });
        let _ = flashscope_report::bench::html(record);
        let _ = flashscope_report::bench::csv(record);
    }
    if let AnyRecord::Comparison(record) = &record {
        let _ = flashscope_report::comparison::terminal(record, Style { colour: false, width: 80, verbose: true });
        let _ = flashscope_report::comparison::html(record);
        let _ = flashscope_report::comparison::csv(record);
    }
    let _ = flashscope_view::figures::measured(&record);
    let _ = flashscope_record::any_to_json(&record);
}

/// A table of runs or of summaries, and what comes of comparing it.
pub(crate) fn table(text: &[u8]) {
    let reader = flashscope_experiment::table::Reader { runs: Some(3), decimal: None };
    for group in reader.read(&String::from_utf8_lossy(text)).unwrap_or_default() {
        let _ = flashscope_experiment::compare(&group.readings, &flashscope_experiment::Settings::default());
    }
}

/// A model file, and a few requests to what it describes.
pub(crate) fn model(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let read = |_: &str| Ok(text.clone().into_owned());
    let Ok(mut target) = flashscope_sim::open_with("fuzzed.toml", 1, read) else { return };
    let _ = flashscope_sim::show("fuzzed.toml", true, read);
    let facts = target.facts().clone();
    let Some(mut grant) = WriteGrant::simulated(&facts, Bytes::mib(64)) else { return };
    let block = facts.logical_block;
    for round in 0..40 {
        let at = (facts.capacity / 41 * round).align_down(block);
        let length = Bytes(4096 << (round % 6)).align_up(block).min(facts.capacity - at);
        let write = Request::write(&mut grant, 0, at, length, Fill::Tagged { generation: 1 }, round % 3 == 0);
        let both = write.into_iter().chain([Request::read(1, at, length), Request::flush(2)]);
        if both.into_iter().any(|request| target.execute(request).is_err()) {
            return;
        }
        target.wait_until(target.now() + Nanos::millis(round * 10));
    }
}

/// A world in which files are there and hold a job, but include nothing.
const WORLD: World<'static> = World {
    file: &|_| Ok("[included]\nrw=read\n".to_owned()),
    variable: &|_| Some("7".to_owned()),
    size: &|_| Some(Bytes::gib(1)),
};

/// A fio job file, and the same text as the words of a command line.
pub(crate) fn fio(text: &[u8]) {
    let text = String::from_utf8_lossy(text).into_owned();
    let words = text.split_whitespace().map(str::to_owned).collect();
    for input in [Input::File { name: "fuzzed.fio".to_owned(), text }, Input::Words(words)] {
        if let Ok(jobs) = fio::read(&[input], &[], &WORLD) {
            read_back(&jobs.set);
        }
    }
}

/// The words of an iozone command line, and the plan that follows from them.
pub(crate) fn iozone(text: &[u8]) {
    let words: Vec<String> = String::from_utf8_lossy(text).split_whitespace().map(str::to_owned).collect();
    let _ = flashscope_iozone::parse(&words);
}

/// A job file.
pub(crate) fn jobs(text: &[u8]) {
    if let Ok(set) =
        flashscope_load::file::parse(&String::from_utf8_lossy(text), &JobText::default(), &JobText::default())
    {
        read_back(&set);
    }
}

/// What is printed as a job file is a job file.
fn read_back(set: &flashscope_load::job::JobSet) {
    let text = flashscope_load::file::to_toml(set);
    assert!(
        flashscope_load::file::parse(&text, &JobText::default(), &JobText::default())
            .is_ok_and(|again| again.phases.len() == set.phases.len()),
        "the printed plan is no job file:\n{text}"
    );
}

/// The definition of a preset.
pub(crate) fn definition(text: &[u8]) {
    let _ = flashscope_suite::Definition::parse(&String::from_utf8_lossy(text));
}

/// A size, a time, sizes with weights and a target with changes, as they are typed.
pub(crate) fn quantity(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for line in text.lines() {
        let _ = line.parse::<Bytes>().map(|size| (size.to_string(), size * 2));
        let _ = line.parse::<Nanos>().map(|time| (time.to_string(), time * 2));
        let _ = flashscope_load::file::sizes(line);
        let _ = flashscope_sim::open(&format!("sd-4mib,{line}"), 1);
    }
}

/// The journal of a run of power cuts that was killed, and a device that is held against it.
pub(crate) fn integrity_journal(text: &[u8]) {
    let Ok(kept) = flashscope_integrity::ledger::Kept::parse(&String::from_utf8_lossy(text)) else { return };
    let Ok(mut target) = flashscope_sim::open("sd-4mib,capacity=64MiB", 1) else { return };
    let _ = flashscope_integrity::judge_kept(&mut target, &kept, false);
    let _ = flashscope_integrity::judge_kept(&mut target, &kept, true);
}

/// A trace of any format, its figures, what-if filters, and every format that it can be written in.
pub(crate) fn trace(text: &[u8]) {
    let Some(format) = Format::of_content(&text[..text.len().min(BEGINNING)]) else { return };
    let requests: Vec<Traced> = match format {
        Format::Own => Reader::new(text).into_iter().flatten().map_while(Result::ok).collect(),
        format => {
            let mut text = text;
            match flashscope_trace::import(format, vec![&mut text], &Options::default()) {
                Ok(found) => found.requests,
                Err(_) => return,
            }
        }
    };
    let mut figures = Figures::new();
    requests.iter().for_each(|request| figures.add(request));
    let _ = figures.finish(0);
    let some = Some(Bytes::kib(8));
    let filters = Filters { align: some, split: None, merge: Some(Nanos::millis(1)), max_request: Some(Bytes::mib(1)) };
    let few = requests.iter().take(100).map(|request| Ok::<_, TraceError>(*request));
    for request in Filtered::new(few, filters).take(10_000).flatten() {
        for addresses in [Addresses::Refuse, Addresses::Wrap, Addresses::Scale { from: Bytes::gib(1) }] {
            let _ = placed(request, addresses, Bytes::mib(64), Bytes(512));
        }
    }
    for format in Format::ALL {
        let Ok(mut exporter) = Exporter::new(Vec::new(), format) else { continue };
        if requests.iter().try_for_each(|request| exporter.add(request)).is_ok() {
            let _ = exporter.finish();
        }
    }
}

/// How the kernel describes a page and an event of requests; places and sizes as those of Linux 6.18.
const PAGE: &str = "field: char data;offset:16;size:4080;";
const EVENT: &str = "ID: 2104
field:int common_pid;offset:4;size:4;
field:dev_t dev;offset:8;size:4;
field:sector_t sector;offset:16;size:8;
field:unsigned int nr_sector;offset:24;size:4;
field:unsigned int bytes;offset:28;size:4;
field:char rwbs[10];offset:34;size:10;";

/// A page of the kernel's events, and the same bytes as a description of one.
pub(crate) fn kernel_page(text: &[u8]) {
    if let Ok(mut layouts) = Layouts::new(PAGE) {
        let _ = layouts.add("block_rq_issue", Step::Issue, EVENT);
        let _ = layouts.events(text, |_| {});
    }
    let described = String::from_utf8_lossy(text);
    if let Ok(mut layouts) = Layouts::new(&described) {
        let _ = layouts.add("block_rq_issue", Step::Issue, &described);
        let _ = layouts.events(text, |_| {});
    }
}
