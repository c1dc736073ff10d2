//! A fleet as the plain data of a record.

use crate::run::{DeviceRun, Scored};
use crate::summary::{Reader, Summary};
use crate::{Fleet, Noise};
use flashscope_model::StopReason;
use flashscope_model::envelope::Envelope;
use flashscope_model::fleet::{self as plain, FleetRecord, Scoring};
use flashscope_model::run::{Cost, Erases};
use flashscope_units::{Bytes, Nanos};

/// The whole result, device by device; what it cost, and whether all devices were done, go into the envelope.
pub fn record(envelope: Envelope, fleet: &Fleet, summary: &Summary) -> FleetRecord {
    let plan = &fleet.plan;
    let by_hand = |reader, parameter| Some(summary.row(reader, parameter)).filter(|row| row.devices > 0);
    let parameters = summary.inspect.iter().map(|(parameter, row)| Scoring {
        parameter: parameter.field().to_owned(),
        words: parameter.words().to_owned(),
        inspect: *row,
        naive: by_hand(Reader::Naive, *parameter),
        log: by_hand(Reader::Log, *parameter),
        calibration: summary.calibration_by.iter().find(|(one, _)| one == parameter).map(|(_, one)| one.clone()),
    });
    let slowest = summary.slowest.iter().map(|slow| plain::Slow {
        index: slow.index,
        title: slow.title.clone(),
        work_s: slow.work.as_secs_f64(),
        replay: plan.replay_command(slow.index, slow.seed),
    });
    let worst = summary.worst.iter().map(|case| plain::WorstCase {
        index: case.index,
        title: case.title.clone(),
        finding: scored(&case.scored),
        replay: plan.replay_command(case.index, case.seed),
    });
    let all_done = fleet.devices.len() == plan.devices as usize;
    FleetRecord {
        envelope: Envelope {
            virtual_time: true,
            cost: Some(cost(summary)),
            stop: if all_done { StopReason::Complete } else { StopReason::Interrupted },
            ..envelope
        },
        asked: plan.devices,
        first: plan.first,
        seed: plan.seed,
        generator: plan.generator.name().to_owned(),
        noise: plan.noise.map(|noise: Noise| noise.name().to_owned()),
        cut_short: summary.cut_short,
        failures: summary.failures.clone(),
        work_s: summary.work_s,
        slowest: slowest.collect(),
        parameters: parameters.collect(),
        calibration: summary.calibration.clone(),
        log_calibration: summary.log_calibration.clone(),
        coverage: summary.coverage,
        costs: plain::FleetCost {
            inspect: summary.cost,
            geometry: summary.geometry_cost,
            by_hand: summary.by_hand_cost,
        },
        worst: worst.collect(),
        devices: fleet.devices.iter().map(device).collect(),
    }
}

/// All that `inspect` did to all of them.
fn cost(summary: &Summary) -> Cost {
    let all = &summary.cost;
    Cost {
        read: Bytes(all.read_bytes.total as u64),
        written: Bytes(all.written_bytes.total as u64),
        time: Nanos((all.time_s.total * 1e9) as u64),
        erases: Some(Erases { units: all.erases.total as u64, counted: true, assumption: None }),
    }
}

fn device(run: &DeviceRun) -> plain::Device {
    plain::Device {
        index: run.index,
        seed: run.seed,
        title: run.title.clone(),
        failure: run.failure.clone(),
        complete: run.complete,
        work_s: run.work.as_secs_f64(),
        findings: run.findings.iter().map(scored).collect(),
        naive: run.naive.iter().map(scored).collect(),
        log: run.log.iter().map(scored).collect(),
        cost: run.cost,
        geometry_cost: run.geometry_cost,
        by_hand_cost: run.by_hand_cost,
    }
}

fn scored(scored: &Scored) -> plain::Scored {
    let judged = &scored.judged;
    plain::Scored {
        parameter: judged.parameter.field().to_owned(),
        verdict: judged.verdict,
        can_be_told: scored.can_be_told,
        declared: scored.judged.declared,
        confidence: judged.claim.map(|(stated, _)| stated),
        said: judged.said.clone(),
        truth: judged.truth.clone(),
        because: judged.because.clone(),
    }
}
