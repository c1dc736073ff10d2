//! A state certificate in words: the state that a device was brought into, by what, and what shows it.

use flashscope_model::Envelope;
use flashscope_model::certificate::{Certificate, MadeStep};
use flashscope_units::{Bytes, Nanos};

/// The state that the device had been brought into, in a sentence; `None` where that was not done.
pub fn state(envelope: &Envelope) -> Option<String> {
    let state = envelope.state.as_ref()?;
    let Some(made) = &state.made else {
        let seen = state.certificate.as_ref().map(|seen| format!(": {seen}"));
        return Some(format!("brought into the state {}{}", state.name, seen.unwrap_or_default()));
    };
    let verdict = if made.reached { "made" } else { "NOT made" };
    Some(format!("{verdict} {}: {}; {}", state.name, made.why, cost(made)))
}

fn cost(made: &Certificate) -> String {
    let time: Nanos = made.steps.iter().map(|step| step.time).sum();
    let life = match made.life_share {
        // Shares of life are small: a hundredth of a percent is a lot for a bench.
        Some(share) => format!("{:.3} % of the rated life", share * 100.0),
        None => "share of the rated life unknown".to_owned(),
    };
    format!("{} written in {time} ({life})", made.written())
}

/// What was done and seen, line by line: the ladder, the steps, registers that changed, whatever else was noticed.
pub fn details(made: &Certificate) -> Vec<String> {
    let ladder = made.ladder.iter().map(|rung| {
        let mark = if rung.reached { "reached" } else { "not reached" };
        format!("ladder, {}: {mark}; {}", rung.step, rung.outcome)
    });
    let steps = alike(&made.steps).into_iter();
    let after = |name: &str| made.registers_after.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let registers = made.registers_before.iter().filter_map(|(name, before)| {
        let after = after(name)?;
        Some(if after == before {
            format!("{name}: {before}, as before")
        } else {
            format!("{name}: {before} → {after}")
        })
    });
    let sessions =
        (made.sessions > 1).then(|| format!("begun {} times, each where it had been stopped", made.sessions));
    let notes = made.notes.iter().cloned();
    ladder.chain(steps).chain(registers).chain(sessions).chain(notes).chain([format!("seed {}", made.seed)]).collect()
}

/// Steps, each in a line; those that did the same, as the passes of an aged device do, in one.
fn alike(steps: &[MadeStep]) -> Vec<String> {
    let mut kinds: Vec<(u64, MadeStep)> = Vec::new();
    for step in steps {
        match kinds.iter_mut().find(|(_, kind)| kind.what == step.what && kind.end == step.end) {
            None => kinds.push((1, step.clone())),
            Some((times, kind)) => {
                *times += 1;
                kind.written += step.written;
                kind.read += step.read;
                kind.time += step.time;
                kind.failed += step.failed;
                kind.mismatched += step.mismatched;
            }
        }
    }
    kinds.iter().map(|(times, kind)| step(*times, kind)).collect()
}

fn step(times: u64, step: &MadeStep) -> String {
    let times = if times > 1 { format!("{times} times: ") } else { String::new() };
    let mut parts = vec![format!("{times}{}: {}", step.what, step.end)];
    let moved = [(step.written, "written"), (step.read, "read")];
    parts.extend(moved.iter().filter(|(bytes, _)| *bytes > Bytes::ZERO).map(|(bytes, word)| format!("{bytes} {word}")));
    parts.push(format!("{}", step.time));
    parts.extend((step.failed > 0).then(|| format!("{} requests failed", step.failed)));
    parts.extend((step.mismatched > 0).then(|| format!("{} blocks were not as written", step.mismatched)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::certificate::Rung;
    use flashscope_model::envelope::{Kind, State, Tool};

    fn certificate(reached: bool) -> Certificate {
        Certificate {
            reached,
            why: "why".into(),
            purge: None,
            ladder: vec![Rung { step: "discard".into(), reached, outcome: "so".into() }],
            steps: vec![MadeStep {
                what: "write".into(),
                written: Bytes::mib(3),
                read: Bytes::ZERO,
                time: Nanos::secs(2),
                failed: 4,
                mismatched: 0,
                end: "done".into(),
                rates: Vec::new(),
            }],
            seed: 7,
            sessions: 2,
            life_share: Some(0.0012),
            life_source: "given".into(),
            registers_before: vec![("a".into(), "1".into()), ("b".into(), "1".into())],
            registers_after: vec![("a".into(), "1".into()), ("b".into(), "2".into())],
            notes: vec!["slowed".into()],
        }
    }

    #[test]
    fn the_verdict_comes_first_and_everything_is_said() {
        let mut envelope = Envelope::new(Kind::Bench, Tool::default(), "bench", "x");
        assert_eq!(state(&envelope), None);
        envelope.state = Some(State { name: "clean".into(), certificate: None, made: Some(certificate(false)) });
        let said = "NOT made clean: why; 3 MiB written in 2.00 s (0.120 % of the rated life)";
        assert_eq!(state(&envelope).as_deref(), Some(said));
        let details = details(&certificate(true)).join("\n");
        for part in [
            "discard: reached; so",
            "write: done, 3 MiB written",
            "4 requests failed",
            "a: 1, as before",
            "b: 1 → 2",
            "begun 2 times",
            "slowed",
            "seed 7",
        ] {
            assert!(details.contains(part), "{part}: {details}");
        }
    }
}
