//! A fleet as JSON, schema `flashscope.fleet/1`. Field names bear their units; what was not measured is null.

use crate::Fleet;
use crate::calibration::Calibration;
use crate::cost::Cost;
use crate::run::{DeviceRun, Scored};
use crate::score::Verdict;
use crate::summary::{CostSummary, Percentiles, Reader, Row, Summary};
use serde_json::{Value, json};

/// The whole result, device by device.
pub fn json(fleet: &Fleet, summary: &Summary) -> String {
    let plan = &fleet.plan;
    let parameters = summary.inspect.iter().map(|(parameter, one)| {
        let (naive, log) = (summary.row(Reader::Naive, *parameter), summary.row(Reader::Log, *parameter));
        let calibration = summary.calibration_by.iter().find(|(one, _)| one == parameter);
        json!({
            "parameter": parameter.field(),
            "inspect": row(one),
            "naive": (naive.devices > 0).then(|| row(&naive)),
            "log": (log.devices > 0).then(|| row(&log)),
            "calibration": calibration.map(|(_, one)| bins(one)),
        })
    });
    let worst = summary.worst.iter().map(|case| {
        json!({
            "device": case.index,
            "title": case.title,
            "finding": scored(&case.scored),
            "replay": plan.replay_command(case.index, case.seed),
        })
    });
    let slowest = summary.slowest.iter().map(|slow| {
        json!({
            "device": slow.index,
            "title": slow.title,
            "processor_time_s": slow.work.as_secs_f64(),
            "replay": plan.replay_command(slow.index, slow.seed),
        })
    });
    let without_result = summary.failures.iter().map(|(index, why)| json!({ "device": index, "why": why }));
    let whole = json!({
        "schema": "flashscope.fleet/1",
        "devices_asked": plan.devices,
        "first_device": plan.first,
        "devices_done": fleet.devices.len(),
        "seed": plan.seed,
        "generator": plan.generator.name(),
        "noise": plan.noise.map(crate::Noise::name),
        "runs_cut_short": summary.cut_short,
        "devices_without_result": without_result.collect::<Vec<Value>>(),
        "processor_time_s": {
            "p50": summary.work_s.p50, "p95": summary.work_s.p95, "total": summary.work_s.total,
        },
        "slowest": slowest.collect::<Vec<Value>>(),
        "parameters": parameters.collect::<Vec<Value>>(),
        "calibration": bins(&summary.calibration),
        "log_calibration": bins(&summary.log_calibration),
        "interval_coverage": { "intervals": summary.coverage.intervals, "hold": summary.coverage.hold },
        "cost": {
            "inspect": costs(&summary.cost),
            "geometry": costs(&summary.geometry_cost),
            "by_hand": summary.by_hand_cost.as_ref().map(costs),
        },
        "worst": worst.collect::<Vec<Value>>(),
        "devices": fleet.devices.iter().map(device).collect::<Vec<Value>>(),
    });
    format!("{whole:#}")
}

fn row(row: &Row) -> Value {
    json!({
        "devices": row.devices,
        "can_be_told": row.told,
        "exact": row.exact,
        "exact_ratio": row.share_exact(),
        "exact_beyond_reference": row.exact_beyond,
        "one_step": row.one_step,
        "wrong": row.wrong,
        "wrong_or_one_step_at_confidence_99": row.wrong_sure,
        "missed": row.missed,
        "rightly_silent": row.silent,
        "unscored": row.unscored,
        "false_alarms": row.false_alarms,
        "declared_but_not_found_by_reference": row.unfound,
    })
}

fn bins(calibration: &Calibration) -> Value {
    let bins = calibration.bins.iter().map(|bin| {
        json!({
            "low": bin.low,
            "high": bin.high,
            "claims": bin.claims,
            "right": bin.right,
            "mean_confidence": bin.stated,
            "right_ratio": bin.share_right(),
        })
    });
    json!({
        "expected_calibration_error": calibration.expected_error,
        "log_score": calibration.log_score,
        "bins": bins.collect::<Vec<Value>>(),
    })
}

fn costs(cost: &CostSummary) -> Value {
    let figure = |figure: Percentiles| json!({ "p50": figure.p50, "p95": figure.p95, "total": figure.total });
    json!({
        "written_bytes": figure(cost.written_bytes),
        "erases": figure(cost.erases),
        "programmed_bytes": figure(cost.programmed_bytes),
        "read_bytes": figure(cost.read_bytes),
        "device_time_s": figure(cost.time_s),
    })
}

fn device(run: &DeviceRun) -> Value {
    json!({
        "device": run.index,
        "seed": run.seed,
        "title": run.title,
        "failure": run.failure,
        "complete": run.complete,
        "processor_time_s": run.work.as_secs_f64(),
        "findings": run.findings.iter().map(scored).collect::<Vec<Value>>(),
        "naive": run.naive.iter().map(scored).collect::<Vec<Value>>(),
        "log": run.log.iter().map(scored).collect::<Vec<Value>>(),
        "cost": cost(&run.cost),
        "geometry_cost": cost(&run.geometry_cost),
        "by_hand_cost": run.by_hand_cost.as_ref().map(cost),
    })
}

fn cost(cost: &Cost) -> Value {
    json!({
        "written_bytes": cost.written.get(),
        "erases": cost.erases,
        "programmed_bytes": cost.programmed.get(),
        "read_bytes": cost.read.get(),
        "device_time_ns": cost.time.get(),
    })
}

fn scored(scored: &Scored) -> Value {
    let judged = &scored.judged;
    let verdict = match judged.verdict {
        Verdict::Exact => "exact",
        Verdict::OneStep => "one_step",
        Verdict::Wrong => "wrong",
        Verdict::Silent => "silent",
        Verdict::Unscored => "unscored",
    };
    json!({
        "parameter": judged.parameter.field(),
        "verdict": verdict,
        "can_be_told": scored.can_be_told,
        "declared": scored.judged.declared,
        "confidence": judged.claim.map(|(stated, _)| stated),
        "said": judged.said,
        "truth": judged.truth,
        "because": judged.because,
    })
}
