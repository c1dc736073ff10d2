//! Records of sweeps: they come back whole, and one that points nowhere is refused.

use flashscope_model::comparison::{
    Better, CampaignEnd, Campaigned, Comparison, ComparisonRecord, Doubt, Family, Group, Method, Metric, Ratio,
    Reading, Readings, Source, Verdict,
};
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::sweep::{
    Answer, Condition, Effect, Knob, KnobFinding, KnobPlace, Layout, Sweep, SweepRecord, Term,
};
use flashscope_record::{RecordError, from_json, read, to_json};

fn record() -> SweepRecord {
    let knob = |name: &str, place, values: [&str; 2]| Knob {
        name: name.to_owned(),
        place,
        values: values.map(str::to_owned).into(),
        baseline: 1,
        before: (place == KnobPlace::Host).then(|| values[1].to_owned()),
        paths: vec![format!("/sys/{name}")],
    };
    let condition = |label: &str, values: [usize; 2], ended: Option<&str>| Condition {
        label: label.to_owned(),
        values: values.into(),
        runs: 3,
        void: vec!["it was changed".to_owned()],
        ended: ended.map(str::to_owned),
    };
    let ratio = Ratio { value: 1.25, interval: Some((1.125, 1.5)) };
    let effect = |terms: &[(usize, usize)], verdict| Effect {
        terms: terms.iter().map(|(knob, value)| Term { knob: *knob, value: *value }).collect(),
        metric: 0,
        ratio: Some(ratio),
        blocks: 3,
        verdict,
        p_difference: Some(0.25),
        p_equivalence: None,
    };
    let findings = [
        KnobFinding::Better { value: 0, ratio },
        KnobFinding::Worse { value: 0, ratio: Ratio { value: 0.5, interval: None } },
        KnobFinding::NoDifference,
        KnobFinding::CannotTell(Doubt::Open { more: Some(4) }),
    ];
    let readings = Readings {
        sides: vec!["a".to_owned(), "b".to_owned()],
        metrics: vec![Metric { name: "read".to_owned(), unit: "B/s".to_owned(), better: Better::Higher }],
        rows: vec![Reading {
            side: 1,
            metric: 0,
            part: String::new(),
            session: String::new(),
            block: Some(0),
            value: 5.5,
        }],
        summaries: Vec::new(),
    };
    let comparison = Comparison {
        confidence: 0.95,
        margin: 1.05,
        method: Method::Sequence,
        family: Family::All,
        comparisons: 1,
        rows: Vec::new(),
        control: None,
        order: Vec::new(),
    };
    SweepRecord {
        comparison: ComparisonRecord {
            envelope: Envelope::new(Kind::Sweep, Tool::default(), "sweep", "card.img"),
            sources: vec![Source { label: "a".to_owned(), from: vec!["card.img".to_owned()] }],
            groups: vec![Group { factor: None, readings, comparison }],
            differences: Vec::new(),
            campaign: Some(Campaigned {
                job: "[[job]]\n".to_owned(),
                seed: 7,
                blocks: 3,
                most_blocks: 30,
                unused_runs: 1,
                end: CampaignEnd::Interrupted,
            }),
        },
        sweep: Sweep {
            knobs: vec![knob("scheduler", KnobPlace::Host, ["bfq", "none"]), knob("bs", KnobPlace::Job, ["4k", "64k"])],
            layout: Layout::Factorial,
            conditions: vec![
                condition("a", [1, 1], None),
                condition("b", [0, 1], None),
                condition("c", [1, 0], Some("EINVAL")),
            ],
            effects: vec![
                effect(&[(0, 0)], Verdict::Better),
                effect(&[(0, 0), (1, 0)], Verdict::CannotTell(Doubt::Missing)),
            ],
            answers: findings.map(|finding| Answer { knob: 0, metric: 0, finding }).into(),
        },
    }
}

#[test]
fn a_sweep_comes_back_whole() {
    let text = to_json(&record());
    assert_eq!(from_json::<SweepRecord>(&text).unwrap(), record());
    assert_eq!(read(&text).unwrap().envelope().kind, Kind::Sweep);
}

#[test]
fn a_sweep_that_points_nowhere_is_refused() {
    type Spoil = fn(&mut SweepRecord);
    let spoilt: [(&str, Spoil); 7] = [
        ("groups", |record| record.comparison.groups.clear()),
        ("knobs", |record| record.sweep.knobs[0].baseline = 2),
        ("knob_settings", |record| record.sweep.conditions.truncate(1)),
        ("knob_settings", |record| record.sweep.conditions[1].values[0] = 9),
        ("effects", |record| record.sweep.effects[0].terms[0].knob = 2),
        ("effects", |record| record.sweep.effects[0].metric = 1),
        ("answers", |record| record.sweep.answers[2].knob = 5),
    ];
    for (field, spoil) in spoilt {
        let mut record = record();
        spoil(&mut record);
        match from_json::<SweepRecord>(&to_json(&record)) {
            Err(RecordError::Contradiction { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{field}: {other:?}"),
        }
    }
}
