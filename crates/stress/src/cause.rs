//! From what was seen to the cause.
//!
//! Each [`Rule`] is a kind of evidence that leaves one cause, or that does not. The probability beside an answer is how often the rule
//! was right on planted faults (`table.csv`, counted by the bench `attribution` with `--count`; docs/memory-stress.md).

use crate::journey::{JourneyPlan, Seen, StorageSeen};
use crate::look::Looks;
use crate::seam::Slot;
use flashscope_infer::calibrated::Table;
use flashscope_model::stress::{Attributed, Border, Cause, Persistence, WrongWord};
use flashscope_units::Bytes;
use std::sync::OnceLock;

/// A kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Memory reads otherwise when it is read again.
    ReadsOtherwise,
    /// Memory was right, and changed while nobody wrote to it.
    Changed,
    /// Memory does not hold what is written to it.
    DoesNotHold,
    /// A copy was wrong at once, and right each time that it was made again.
    CopiedWrong,
    /// Copies are wrong now and then, in other bits each time.
    CopiesErratic,
    /// Memory was wrong when it was first read, and whether it had ever been right is not known.
    NeverSeenRight,
    /// The device gave the right data each time that it was asked again.
    RightWhenReadAgain,
    /// The same, with buffers that had been changing.
    BuffersChanged,
    /// Other places come back wrong as well.
    WrongElsewhere,
    /// The same place is wrong now and then, in the same bits.
    SameBitsAtTimes,
    /// What stands there is, whole, what belongs to another place or was written before.
    Stray,
    /// The place gave the right data before, and the same wrong ones each time now.
    RightBefore,
    /// The place is wrong again when it is written again.
    WrongWhenRewritten,
    /// The place stays wrong, and is right when it is written again.
    WrongOnce,
    /// The device itself says that it cannot read the place.
    Refused,
    /// Seen while another error was looked into.
    InPassing,
    /// What was seen fits no other rule.
    Mixed,
}

/// All rules, in the order of the evidence.
pub const RULES: [Rule; 17] = [
    Rule::ReadsOtherwise,
    Rule::Changed,
    Rule::DoesNotHold,
    Rule::CopiedWrong,
    Rule::CopiesErratic,
    Rule::NeverSeenRight,
    Rule::RightWhenReadAgain,
    Rule::BuffersChanged,
    Rule::WrongElsewhere,
    Rule::SameBitsAtTimes,
    Rule::Stray,
    Rule::RightBefore,
    Rule::WrongWhenRewritten,
    Rule::WrongOnce,
    Rule::Refused,
    Rule::InPassing,
    Rule::Mixed,
];

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This cause, all others being excluded.
    Is(Cause),
    /// One of these.
    OneOf(&'static [Cause]),
}

impl Rule {
    /// Its word in a record and in the table.
    pub const fn word(self) -> &'static str {
        match self {
            Rule::ReadsOtherwise => "reads_otherwise",
            Rule::Changed => "changed",
            Rule::DoesNotHold => "does_not_hold",
            Rule::CopiedWrong => "copied_wrong",
            Rule::CopiesErratic => "copies_erratic",
            Rule::NeverSeenRight => "never_seen_right",
            Rule::RightWhenReadAgain => "right_when_read_again",
            Rule::BuffersChanged => "buffers_changed",
            Rule::WrongElsewhere => "wrong_elsewhere",
            Rule::SameBitsAtTimes => "same_bits_at_times",
            Rule::Stray => "stray",
            Rule::RightBefore => "right_before",
            Rule::WrongWhenRewritten => "wrong_when_rewritten",
            Rule::WrongOnce => "wrong_once",
            Rule::Refused => "refused",
            Rule::InPassing => "in_passing",
            Rule::Mixed => "mixed",
        }
    }

    /// What it leaves.
    pub const fn answer(self) -> Answer {
        use Cause::{MemoryCell, MemoryPath, StorageLink, StorageMedium};
        match self {
            Rule::ReadsOtherwise | Rule::CopiedWrong | Rule::CopiesErratic => Answer::Is(MemoryPath),
            Rule::Changed | Rule::DoesNotHold => Answer::Is(MemoryCell),
            Rule::NeverSeenRight => Answer::OneOf(&[MemoryCell, MemoryPath]),
            Rule::RightWhenReadAgain | Rule::WrongElsewhere => Answer::Is(StorageLink),
            Rule::BuffersChanged => Answer::OneOf(&[MemoryCell, StorageLink]),
            Rule::Stray | Rule::RightBefore | Rule::WrongWhenRewritten | Rule::SameBitsAtTimes | Rule::Refused => {
                Answer::Is(StorageMedium)
            }
            Rule::WrongOnce | Rule::Mixed => Answer::OneOf(&[StorageMedium, StorageLink]),
            Rule::InPassing => Answer::OneOf(&[MemoryPath, StorageMedium, StorageLink]),
        }
    }
}

impl Seen {
    /// Which rule it meets.
    pub fn rule(&self) -> Rule {
        match &self.storage {
            Some(storage) => of_storage(storage),
            None => self.of_memory(),
        }
    }

    fn of_memory(&self) -> Rule {
        let (again, rewritten) = (self.again, self.rewritten);
        if again.same < again.count() {
            return Rule::ReadsOtherwise;
        }
        match () {
            () if rewritten.wrong() >= 2 => Rule::DoesNotHold,
            () if matches!(self.border, Border::Kept | Border::Handed) => Rule::Changed,
            () if rewritten.wrong() > 0 || rewritten.strangers > 0 => Rule::CopiesErratic,
            () if matches!(self.border, Border::Born | Border::Copied) => Rule::CopiedWrong,
            () => Rule::NeverSeenRight,
        }
    }
}

fn of_storage(storage: &StorageSeen) -> Rule {
    let StorageSeen { again, rewritten, beside, .. } = *storage;
    let (all, is_steady) = (again.count(), again.same == again.count());
    // What is the same at every reading has its place, and so has what is wrong elsewhere: only the same words there are the way's.
    let beside_wrong = if is_steady { storage.beside_alike } else { storage.beside_wrong };
    if storage.failed > 0 && again.count() == 0 {
        return if beside > 0 && beside_wrong == 0 { Rule::Refused } else { Rule::Mixed };
    }
    if storage.in_passing {
        return Rule::InPassing;
    }
    // What is always wrong here is no matter of the way, where other places mostly come back right.
    let is_of_the_place = beside > 0 && beside_wrong * 4 < beside * 3 && again.right == 0;
    match () {
        () if is_of_the_place && is_steady && storage.strays * 2 > storage.sectors => Rule::Stray,
        () if is_of_the_place && is_steady && storage.was_right => Rule::RightBefore,
        () if is_of_the_place && rewritten.count() > 0 && rewritten.right == 0 => Rule::WrongWhenRewritten,
        () if again.right == all && storage.buffers_changed => Rule::BuffersChanged,
        () if again.right == all && beside_wrong > 0 => Rule::WrongElsewhere,
        () if again.right == all => Rule::RightWhenReadAgain,
        () if is_of_the_place && is_steady => Rule::WrongOnce,
        () if again.wrong() >= 2 && again.right > 0 && beside > 0 && beside_wrong * 4 < beside * 3 => {
            Rule::SameBitsAtTimes
        }
        () if beside > 0 && beside_wrong == beside => Rule::WrongElsewhere,
        () => Rule::Mixed,
    }
}

/// What a journey saw, and whose error it is.
pub fn attributed(seen: &Seen, plan: &JourneyPlan) -> Attributed {
    let rule = seen.rule();
    let block = plan.block * u64::from(seen.block);
    let first = seen.difference.words().first().map_or(0, |(word, _)| u64::from(*word) * 8);
    let at = match seen.slot {
        Slot::Back => plan.offset + block + Bytes(first),
        Slot::Kept => block + Bytes(first),
        Slot::Out | Slot::Other => Bytes(first),
    };
    let evidence = match &seen.storage {
        Some(storage) => storage_evidence(rule, storage),
        None => memory_evidence(rule, seen.again, seen.rewritten),
    };
    answered(rule, seen.border, (at, seen.difference.len() as u64, seen.difference.bits()), evidence)
}

/// What a wrong word of stressed memory means.
pub fn from_words(word: &WrongWord) -> Attributed {
    let rule = match word.persistence {
        Persistence::Transient | Persistence::Unsteady => Rule::ReadsOtherwise,
        Persistence::Stuck => Rule::DoesNotHold,
        Persistence::Changed if word.was_right => Rule::Changed,
        // It is verified right after each copy, and a cell that changes within that millisecond is what nobody reckons with.
        Persistence::Changed => Rule::CopiedWrong,
    };
    let again = format!("read again {} times, right {} times", word.again, word.again_right);
    let evidence = match rule {
        Rule::ReadsOtherwise => format!("the memory reads otherwise when it is read again ({again})"),
        Rule::DoesNotHold => format!("written again it is wrong again ({again})"),
        Rule::Changed => format!("it was right since it was written, and changed while nobody wrote to it ({again})"),
        _ => format!("it was wrong right after it was copied, and holds what is written now ({again})"),
    };
    answered(rule, Border::Stressed, (word.at, 1, word.bits()), evidence)
}

fn answered(rule: Rule, border: Border, (at, words, bits): (Bytes, u64, u64), evidence: String) -> Attributed {
    let (cause, probability, leaning) = match rule.answer() {
        Answer::Is(cause) => (cause, probability(rule, cause), Vec::new()),
        Answer::OneOf(causes) => (Cause::CannotTell, None, causes.to_vec()),
    };
    Attributed { cause, probability, leaning, rule: rule.word().to_owned(), border, at, words, bits, evidence }
}

/// How likely a rule is right, as counted on planted faults.
fn probability(rule: Rule, cause: Cause) -> Option<f64> {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE
        .get_or_init(|| Table::parse(include_str!("table.csv")).expect("the table in the repository is well-formed"));
    let causes: Vec<&str> = CAUSES.iter().map(|cause| cause.word()).collect();
    let shares = table.shares("cause", rule.word(), 1.0, &causes)?;
    shares.into_iter().find(|(word, _)| *word == cause.word()).map(|(_, share)| share)
}

/// What an error can be, at the end.
const CAUSES: [Cause; 4] = [Cause::MemoryCell, Cause::MemoryPath, Cause::StorageMedium, Cause::StorageLink];

fn memory_evidence(rule: Rule, again: Looks, rewritten: Looks) -> String {
    let read = format!("{} of {} further readings of the memory are the same", again.same, again.count());
    let written = format!("{} of {} times right when written again", rewritten.right, rewritten.count());
    match rule {
        Rule::ReadsOtherwise => {
            format!("only {read}, so that it holds other bits than those that arrived")
        }
        Rule::Changed => format!("it was right, nobody wrote to it, and now {read}"),
        Rule::DoesNotHold if rewritten.count() > 0 => format!("{read}, and it is {written}"),
        Rule::DoesNotHold => "the buffer does not hold what is written to it, device or not".to_owned(),
        Rule::CopiesErratic => format!("{read}, and other bits are wrong when it is copied again ({written})"),
        _ => format!("wrong as soon as it was copied; {read}, and it is {written}"),
    }
}

fn storage_evidence(rule: Rule, storage: &StorageSeen) -> String {
    let StorageSeen { again, rewritten, beside, beside_wrong, .. } = *storage;
    let all = again.count();
    let memory =
        "the buffer was right when it was handed over, and the one that was read into holds what is written to it";
    let what = match rule {
        Rule::RightWhenReadAgain => format!("all of {all} further readings are right"),
        Rule::BuffersChanged => {
            return format!("all of {all} further readings are right, but buffers had changed by themselves before");
        }
        Rule::WrongElsewhere => {
            format!(
                "{beside_wrong} of {beside} readings of other places were wrong as well, and in the same words where it is lasting"
            )
        }
        Rule::SameBitsAtTimes => format!(
            "{} of {all} further readings are wrong in the same bits, and none of {beside} of another place",
            again.wrong()
        ),
        Rule::Stray => format!(
            "{} sectors hold, whole, what was written to another place or before, at each of {all} further readings",
            storage.strays
        ),
        Rule::RightBefore => format!(
            "the place was read right before{}, and all of {all} further readings give the same wrong data",
            if storage.after_cut { " the power was cut" } else { "" }
        ),
        Rule::WrongWhenRewritten => format!(
            "each of {all} further readings is wrong, and so was each of {} after writing it again",
            rewritten.count()
        ),
        Rule::WrongOnce => format!(
            "all of {all} further readings give the same wrong data, and the place is right when it is written again: wrong data were \
             taken on the way there, or kept"
        ),
        Rule::Refused => {
            format!("the device itself says that it cannot read the place, and reads another one ({beside} times)")
        }
        Rule::InPassing => "it was seen once or more while another error of the same block was looked into".to_owned(),
        _ => format!("{} of {all} further readings are right, {} the same as the first", again.right, again.same),
    };
    format!("{what}; {memory}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_answers_has_a_probability_and_every_word_is_its_own() {
        let words: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.word()).collect();
        assert_eq!(words.len(), RULES.len());
        for rule in RULES {
            if let Answer::Is(cause) = rule.answer() {
                // A device that says itself that it fails is not planted: there is nothing to be told apart.
                assert_eq!(probability(rule, cause).is_none(), rule == Rule::Refused, "{}", rule.word());
            }
        }
    }

    #[test]
    fn a_single_wrong_write_is_nobodys_for_sure() {
        let once = StorageSeen {
            again: Looks { same: 12, ..Looks::default() },
            beside: 12,
            sectors: 2,
            rewritten: Looks { right: 3, ..Looks::default() },
            ..StorageSeen::default()
        };
        assert_eq!(of_storage(&once), Rule::WrongOnce);
        assert_eq!(of_storage(&StorageSeen { was_right: true, ..once }), Rule::RightBefore);
        assert_eq!(of_storage(&StorageSeen { strays: 2, ..once }), Rule::Stray);
        let never = Looks { same: 3, ..Looks::default() };
        assert_eq!(of_storage(&StorageSeen { rewritten: never, ..once }), Rule::WrongWhenRewritten);
        let line = StorageSeen { beside_wrong: 12, beside_alike: 12, ..once };
        assert_eq!(of_storage(&line), Rule::WrongElsewhere, "a line of the link");
        let bad_places = StorageSeen { beside_wrong: 12, rewritten: never, ..once };
        assert_eq!(of_storage(&bad_places), Rule::WrongWhenRewritten, "other places are bad as well, in other words");
        assert_eq!(of_storage(&StorageSeen { beside: 0, ..once }), Rule::Mixed, "nothing to hold it against");
    }
}
