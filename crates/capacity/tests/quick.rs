//! The quick test on simulated devices whose size is known.

use flashscope_capacity::{Outcome, Plan, USUAL_BUDGET, Watch, quick};
use flashscope_device::{Target, WriteGrant};
use flashscope_infer::capacity::shape;
use flashscope_model::StopReason;
use flashscope_model::capacity::{Between, Genuineness, Quick};
use flashscope_units::Bytes;

struct Unwatched;

impl Watch for Unwatched {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        assert!(moved <= most);
    }

    fn stop(&mut self) -> bool {
        false
    }
}

fn tested(spec: &str) -> Outcome<Quick> {
    let mut target = flashscope_sim::open(spec, 3).unwrap();
    let facts = target.facts().clone();
    let block = target.capabilities().granularity;
    let plan = Plan::new(facts.capacity, block, USUAL_BUDGET, 3).unwrap();
    let mut grant = WriteGrant::simulated(&facts, plan.budget).unwrap();
    quick(&plan, 1000, (&mut target, &mut grant), &mut Unwatched)
}

fn check(spec: &str, kind: Genuineness, size: Option<Bytes>) {
    let outcome = tested(spec);
    assert_eq!(outcome.stop, StopReason::Complete, "{spec}");
    assert!(outcome.cost.written <= USUAL_BUDGET, "{spec}: {}", outcome.cost.written);
    let shape = shape(&outcome.seen);
    assert_eq!(shape.kind, Some(kind), "{spec}: {shape:?}");
    if let Some(size) = size {
        assert_eq!(shape.size, Some(Between { low: size, high: size }), "{spec}: {shape:?}");
    }
}

#[test]
fn a_genuine_device_is_genuine() {
    for spec in ["sim:sd-4mib", "sim:sd-4mib,capacity=64MiB", "sim:sd-4mib,failing=0.001,slow=0.01", "sim:ssd-consumer"]
    {
        check(spec.trim_start_matches("sim:"), Genuineness::Genuine, None);
    }
}

#[test]
fn fakes_are_told_with_their_size_to_the_block() {
    let odd = Bytes::mib(700) + Bytes(512 * 77);
    for beyond in ["zeros", "garbage"] {
        let limbo = format!("sd-4mib,fake=limbo,beyond={beyond},real_capacity={}", odd.get());
        check(&limbo, Genuineness::Limbo, Some(odd));
    }
    check(&format!("sd-4mib,fake=wrap-around,real_capacity={}", odd.get()), Genuineness::WrapAround, Some(odd));
    check("sd-4mib,fake=wrap-around,real_capacity=1GiB,wrap=512MiB", Genuineness::WrapAround, Some(Bytes::mib(512)));
    check("sd-4mib,fake=wrap-around,real_capacity=8MiB", Genuineness::WrapAround, Some(Bytes::mib(8)));
    check("sd-4mib,fake=limbo,real_capacity=4MiB", Genuineness::Limbo, Some(Bytes::mib(4)));
    check("sd-4mib,fake=chain,real_capacity=1GiB,wrap=2GiB", Genuineness::Chain, Some(Bytes::gib(1)));
    let chain = format!("sd-4mib,fake=chain,real_capacity={},wrap={}", odd.get(), odd.get() + 512 * 9);
    check(&chain, Genuineness::Chain, Some(odd));
    for damage in ["garbage", "lose"] {
        check(&format!("sd-4mib,damaged=0.05,damage={damage}"), Genuineness::Damaged, None);
    }
}
