//! From the wire back to the model.

use super::{
    Bench, Evidence, Failure, Interval, JobEnded, JobEndedHow, JobRun, Moved, Phase, PhaseRun, Series, Summary, Times,
    Verdict, Written,
};
use crate::RecordError;
use flashscope_model::bench as model;
use flashscope_units::{Bytes, Nanos};

impl Bench {
    pub(super) fn into_model(self) -> Result<model::BenchRecord, RecordError> {
        Ok(model::BenchRecord {
            tool_version: self.tool.version,
            command: self.command,
            target: self.target,
            host: self.host.map(crate::wire::Host::into_model),
            device: self.device.map(crate::wire::Device::into_model),
            virtual_time: self.virtual_time,
            phases: self.phases.into_iter().map(Phase::into_model).collect::<Result<_, _>>()?,
            preset: self.preset.map(super::Preset::into_model),
            ended: self.ended.into_model(),
        })
    }
}

impl Phase {
    fn into_model(self) -> Result<model::BenchPhase, RecordError> {
        let run = |run: PhaseRun| {
            let jobs = run.jobs.into_iter().map(JobRun::into_model).collect::<Result<_, _>>()?;
            Ok(model::PhaseRun { jobs, evidence: run.evidence.into_model() })
        };
        Ok(model::BenchPhase {
            runs: self.runs.into_iter().map(run).collect::<Result<_, RecordError>>()?,
            summary: self.summary.into_iter().map(Summary::into_model).collect(),
        })
    }
}

impl Summary {
    fn into_model(self) -> model::Summary {
        model::Summary {
            job: self.job,
            figure: self.figure,
            values: self.values,
            median: self.median,
            interval: self.interval.map(Interval::into_model),
        }
    }
}

impl Interval {
    pub(super) fn into_model(self) -> (f64, f64, f64) {
        (self.low, self.high, self.confidence)
    }
}

impl JobRun {
    fn into_model(self) -> Result<model::JobRun, RecordError> {
        let times = |times: Option<Times>| times.map(Times::into_model).transpose();
        let moved = |moved: Option<Moved>| moved.map(Moved::into_model).transpose();
        Ok(model::JobRun {
            settings: self.settings.into_iter().map(|setting| (setting.name, setting.value)).collect(),
            path: self.path.into_model(),
            workers: self.workers,
            elapsed: Nanos(self.elapsed_ns),
            read: moved(self.read)?,
            write: moved(self.write)?,
            flush: times(self.flush_time)?,
            read_back: self.read_back.map(|read_back| (read_back.count, Bytes(read_back.bytes))),
            failed: self.failed_count,
            mismatched: self.mismatched_count,
            failures: self.failures.into_iter().map(Failure::into_model).collect(),
            stall: self
                .longest_stall
                .map(|stall| model::StallSeen { time: Nanos(stall.time_ns), from: Nanos(stall.from_ns) }),
            series: self.series.into_model(&self.name)?,
            written: self.written.into_iter().map(Written::into_model).collect(),
            cpu: self.cpu.map(|cpu| model::CpuCost {
                total: Nanos(cpu.total_ns),
                split: cpu.user_ns.zip(cpu.system_ns).map(|(user, system)| (Nanos(user), Nanos(system))),
                requests: cpu.count,
            }),
            ended: self.ended.into_model(),
            steady: self.steady.map(|steady| model::SteadySeen { steady: steady.reached, rounds: steady.rounds }),
            name: self.name,
        })
    }
}

impl Moved {
    fn into_model(self) -> Result<model::Moved, RecordError> {
        Ok(model::Moved {
            requests: self.count,
            bytes: Bytes(self.bytes),
            requests_per_s: self.requests_per_s,
            bytes_per_s: self.bytes_per_s,
            service: self.service_time.into_model()?,
            queue: self.queue_time.map(Times::into_model).transpose()?,
            response: self.response_time.map(Times::into_model).transpose()?,
        })
    }
}

impl Times {
    fn into_model(self) -> Result<model::Times, RecordError> {
        let percentiles = [
            (0.01, self.p1_ns),
            (0.10, self.p10_ns),
            (0.50, self.p50_ns),
            (0.90, self.p90_ns),
            (0.95, self.p95_ns),
            (0.99, self.p99_ns),
            (0.999, self.p99_9_ns),
            (0.9999, self.p99_99_ns),
            (0.99999, self.p99_999_ns),
        ];
        let histogram = self.histogram;
        if histogram.low_ns.len() != histogram.count.len() || histogram.high_ns.len() != histogram.count.len() {
            return Err(RecordError::contradiction("histogram", "its columns differ in length"));
        }
        if self.min_ns > self.max_ns {
            return Err(RecordError::contradiction("min_ns", "it is above max_ns"));
        }
        let edges = histogram.low_ns.into_iter().zip(histogram.high_ns);
        let buckets = edges.zip(histogram.count).map(|((low, high), count)| (Nanos(low), Nanos(high), count));
        Ok(model::Times {
            count: self.count,
            min: Nanos(self.min_ns),
            mean: self.mean_ns,
            max: Nanos(self.max_ns),
            percentiles: percentiles.into_iter().filter_map(|(of, time)| Some((of, Nanos(time?)))).collect(),
            buckets: buckets.collect(),
        })
    }
}

impl Failure {
    fn into_model(self) -> model::RequestFailure {
        let mismatch = self.mismatch;
        model::RequestFailure {
            at: Nanos(self.at_ns),
            kind: self.kind,
            offset: Bytes(self.offset_bytes),
            length: Bytes(self.length_bytes),
            reason: self.reason,
            mismatch: mismatch.map(|other| (Bytes(other.position_bytes), other.expected, other.found)),
        }
    }
}

impl Series {
    fn into_model(self, job: &str) -> Result<model::TimeSeries, RecordError> {
        let count = self.reads.len();
        let others =
            [&self.writes, &self.read_bytes, &self.written_bytes, &self.service_time_sum_ns, &self.service_time_max_ns];
        if others.iter().any(|column| column.len() != count) {
            return Err(RecordError::contradiction(format!("series of '{job}'"), "its columns differ in length"));
        }
        let period = |at: usize| model::SeriesPeriod {
            reads: self.reads[at],
            writes: self.writes[at],
            read: Bytes(self.read_bytes[at]),
            written: Bytes(self.written_bytes[at]),
            service_sum: Nanos(self.service_time_sum_ns[at]),
            service_max: Nanos(self.service_time_max_ns[at]),
        };
        Ok(model::TimeSeries { period: Nanos(self.period_ns), periods: (0..count).map(period).collect() })
    }
}

impl Written {
    fn into_model(self) -> model::WrittenCurve {
        model::WrittenCurve { step: Bytes(self.step_bytes), times: self.at_ns.into_iter().map(Nanos).collect() }
    }
}

impl JobEnded {
    fn into_model(self) -> model::JobEnded {
        match self.how {
            JobEndedHow::Complete => model::JobEnded::Complete,
            JobEndedHow::Stopped => model::JobEnded::Stopped,
            JobEndedHow::BudgetSpent => model::JobEnded::BudgetSpent,
            JobEndedHow::Failing => model::JobEnded::Failing,
            JobEndedHow::DeviceLost => model::JobEnded::DeviceLost(self.reason.unwrap_or_default()),
        }
    }
}

impl Verdict {
    pub(super) fn into_model(self) -> model::CacheVerdict {
        match self {
            Verdict::Device => model::CacheVerdict::Device,
            Verdict::Mixed => model::CacheVerdict::Mixed,
            Verdict::Cache => model::CacheVerdict::Cache,
            Verdict::Unknown => model::CacheVerdict::Unknown,
        }
    }
}

impl Evidence {
    fn into_model(self) -> model::Evidence {
        let counter = |counter: super::Counter| model::Counter {
            name: counter.name,
            before: counter.before,
            after: counter.after,
        };
        model::Evidence {
            verdict: self.verdict.into_model(),
            device_share: self.device_share_ratio,
            why: self.why,
            counters: self.counters.into_iter().map(counter).collect(),
        }
    }
}
