use super::*;
use flashscope_model::capacity::Totals;
use flashscope_model::endurance::EndKind;

const CLAIMED: Bytes = Bytes::mib(100);

fn end(kind: EndKind) -> End {
    End { kind, why: None }
}

fn pass(number: u32, bad: Bytes, registers: Option<Health>) -> Pass {
    let totals = Totals { kept: CLAIMED - bad, unreadable: bad, ..Totals::default() };
    Pass { number, written: CLAIMED, read: CLAIMED, totals, registers, whole: true, ..Pass::default() }
}

fn drive(used: u8, spare: u8) -> Option<Health> {
    Some(Health { used_percent: Some(used), spare_percent: Some(spare), ..Health::default() })
}

/// On every device of this table the first error came at twice the rated life, or at the end of the spare, give or take a tenth.
fn table() -> Quantiles {
    let regimes = ["life_step", "life_steps", "spare_below_10", "spare_below_30", "spare_below_60", "spare_above_60"];
    let cases = regimes.iter().flat_map(|regime| {
        let centre = if regime.starts_with("life") { 2.0 } else { 1.0 };
        (0..=100).map(move |at| ((*regime).to_owned(), centre * (0.9 + 0.002 * f64::from(at))))
    });
    Quantiles::count(&cases.collect::<Vec<_>>())
}

fn told(registers: &[Option<Health>]) -> Forecast {
    let passes: Vec<Pass> =
        registers[1..].iter().zip(1..).map(|(health, number)| pass(number, Bytes::ZERO, *health)).collect();
    forecast_by(&table(), registers[0].as_ref(), &passes, CLAIMED, &end(EndKind::Passes))
}

#[test]
fn without_evidence_there_is_no_forecast() {
    let card = told(&[None; 31]);
    assert_eq!((card.basis, card.capacity_writes, card.low, card.high), (Basis::Nothing, None, 30.0, None));
    assert!(card.evidence.contains("no register of wear; 30.0 capacity-writes"), "{}", card.evidence);
    let still = told(&[drive(3, 100); 31]);
    assert!(still.high.is_none() && still.evidence.contains("has moved"), "{}", still.evidence);
}

#[test]
fn the_life_that_is_used_leads_to_a_scale() {
    // One percent in five passes, from 10 % on: 100 % at 450, 200 % at 950.
    let registers: Vec<Option<Health>> = (0..=50).map(|pass| drive(10 + pass / 5, 100)).collect();
    let life = told(&registers);
    assert_eq!(life.basis, Basis::Life);
    let (low, middle, high) = (life.low, life.capacity_writes.unwrap(), life.high.unwrap());
    assert!((930.0..970.0).contains(&middle), "{life:?}");
    assert!(low < 900.0 && low > 840.0 && high > 1000.0 && high < 1060.0, "{life:?}");
}

#[test]
fn what_passed_without_an_error_is_left_out() {
    // All of the rated life and 95 % of it once more: most of the table lies behind.
    let registers: Vec<Option<Health>> = (0..=195).map(|pass| drive(pass, 100)).collect();
    let old = told(&registers);
    assert!(old.low > 195.0 && old.high.is_some_and(|high| high <= 220.5), "{old:?}");
    let registers: Vec<Option<Health>> = (0..=230).map(|pass| drive(pass, 100)).collect();
    let older = told(&registers);
    assert_eq!((older.basis, older.low), (Basis::Nothing, 230.0), "{older:?}");
}

#[test]
fn spare_that_goes_counts_for_more_than_life_that_is_used() {
    // A percent of the spare with each capacity-write, by chance: all of it after 100.
    let registers: Vec<Option<Health>> = (0..=50).map(|pass| drive(0, 100 - pass)).collect();
    let going = told(&registers);
    assert_eq!(going.basis, Basis::Spare);
    assert!(going.capacity_writes.is_some_and(|middle| (93.0..107.0).contains(&middle)), "{going:?}");
    // With the fourth power of what is written: all of it after 100 again.
    let share = |pass: u32| 100 - (f64::from(pass).powi(4) / 1e6).round() as u8;
    let registers: Vec<Option<Health>> = (0..=80).map(|pass| drive(0, share(pass))).collect();
    let wearing = told(&registers);
    assert!(wearing.capacity_writes.is_some_and(|middle| (95.0..105.0).contains(&middle)), "{wearing:?}");
}

#[test]
fn milestones_are_those_of_the_first_pass_that_shows_them() {
    let bad = [0, 0, 1, 3, 200, 12_000, 30_000].map(|blocks| Bytes::kib(blocks * 4 / 3));
    let passes: Vec<Pass> = bad.iter().zip(1..).map(|(bad, number)| pass(number, *bad, None)).collect();
    let reached = milestones(&passes, CLAIMED, &end(EndKind::Passes));
    let found: Vec<(Milestone, u32)> = reached.iter().map(|one| (one.milestone, one.pass)).collect();
    let wanted = [(Milestone::FirstError, 3), (Milestone::Permille, 5), (Milestone::Tenth, 6), (Milestone::Quarter, 7)];
    assert_eq!(found, wanted);
    let first = forecast_by(&table(), None, &passes, CLAIMED, &end(EndKind::Passes));
    assert_eq!((first.basis, first.low, first.high), (Basis::Seen, 2.0, Some(3.0)));
    let died = milestones(&passes[..2], CLAIMED, &end(EndKind::ReadOnly));
    assert_eq!(died.iter().map(|one| (one.milestone, one.pass)).collect::<Vec<_>>(), [(Milestone::FirstError, 2)]);
    assert_eq!(milestones(&passes[..2], CLAIMED, &end(EndKind::Life)), []);
}

#[test]
fn the_table_reads_what_it_writes() {
    let text = table().to_text("made by hand");
    assert_eq!(Quantiles::read(&text).to_text("made by hand"), text);
    assert_eq!(Quantiles::read("# a remark\nlife,1,x\n"), Quantiles::default());
}
