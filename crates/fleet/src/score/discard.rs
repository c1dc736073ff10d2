//! Discard against the truth: what is read behind one, and from which size on it takes effect.

use super::{Judged, Parameter, Verdict, judged};
use flashscope_model::Estimate;
use flashscope_model::discard::{DiscardFound, DiscardReads};
use flashscope_sim::truth::{DiscardTruth, Fact};
use flashscope_units::Bytes;

/// Sizes are tried by doubling: the one found is right where it is the first of them that is no less than the truth, or the
/// smallest that was tried. One step beside: the next.
pub(super) fn discard(parameter: Parameter, fact: &Fact<DiscardTruth>, estimate: &Estimate<DiscardFound>) -> Judged {
    let words = fact.value.map_or("none".to_owned(), |truth| truth.to_string());
    let Some(found) = estimate.value() else {
        return judged(parameter, Verdict::Silent, estimate, true, "cannot tell".to_owned(), words);
    };
    let said = match found.granularity {
        Some(size) => format!("{} from {size} on", found.reads.word()),
        None => found.reads.word().to_owned(),
    };
    let verdict = match (fact.value, found.reads, found.granularity) {
        (None, DiscardReads::Absent, _) => Verdict::Exact,
        (Some(DiscardTruth { reads: None, .. }), DiscardReads::Kept, _) => Verdict::Exact,
        (Some(DiscardTruth { reads: Some(byte), granularity }), reads, Some(size)) if reads == of_byte(byte) => {
            from(granularity, size)
        }
        _ => Verdict::Wrong,
    };
    judged(parameter, verdict, estimate, verdict == Verdict::Exact, said, words)
}

/// The smallest size that is tried.
const LEAST: Bytes = Bytes::kib(4);

fn from(truth: Bytes, found: Bytes) -> Verdict {
    let reaches = |size: Bytes| truth <= size && (size <= LEAST || size < truth * 2);
    match found {
        size if reaches(size) => Verdict::Exact,
        size if reaches(size * 2) || reaches(size / 2) => Verdict::OneStep,
        _ => Verdict::Wrong,
    }
}

fn of_byte(byte: u8) -> DiscardReads {
    match byte {
        0x00 => DiscardReads::Zeros,
        0xff => DiscardReads::Ones,
        _ => DiscardReads::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::{ExperimentName, Finding};
    use flashscope_units::Nanos;

    #[test]
    fn a_discard_is_right_by_what_is_read_and_from_where_on() {
        let found = |reads, granularity| DiscardFound {
            reads,
            granularity,
            smallest: Some(Nanos::micros(400)),
            largest: Some(Bytes::mib(4)),
            largest_time: Some(Nanos::micros(400)),
            rewrite_ratio: None,
        };
        let check = |value: Option<DiscardTruth>, reads, granularity: Option<Bytes>, expect: Verdict| {
            let fact = Fact { value, ..Fact::none() };
            let estimate = Estimate::known(found(reads, granularity), 0.98, "e", &[ExperimentName::Discard]);
            assert_eq!(discard(Parameter::Of(Finding::Discard), &fact, &estimate).verdict, expect, "{value:?}");
        };
        let erases = |byte, kib| Some(DiscardTruth { reads: Some(byte), granularity: Bytes::kib(kib) });
        check(erases(0, 16), DiscardReads::Zeros, Some(Bytes::kib(16)), Verdict::Exact);
        check(erases(0, 24), DiscardReads::Zeros, Some(Bytes::kib(32)), Verdict::Exact);
        check(erases(0, 1), DiscardReads::Zeros, Some(LEAST), Verdict::Exact);
        check(erases(0, 16), DiscardReads::Zeros, Some(Bytes::kib(32)), Verdict::OneStep);
        check(erases(0, 16), DiscardReads::Zeros, Some(Bytes::kib(256)), Verdict::Wrong);
        check(erases(0xff, 16), DiscardReads::Zeros, Some(Bytes::kib(16)), Verdict::Wrong);
        check(erases(0, 16), DiscardReads::Kept, None, Verdict::Wrong);
        check(Some(DiscardTruth { reads: None, granularity: LEAST }), DiscardReads::Kept, None, Verdict::Exact);
        check(None, DiscardReads::Absent, None, Verdict::Exact);
        check(None, DiscardReads::Kept, None, Verdict::Wrong);
    }
}
