//! Published logs put together, cut short and beheaded: what does not belong together is said, and nothing is guessed.

use flashscope_infer::{infer, of_several_devices};
use flashscope_model::Findings;
use flashscope_model::finding::NoteKind;
use flashscope_units::Bytes;

fn fixture(log: &str) -> String {
    let path = format!("{}/../../fixtures/field/{log}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A log without the lines that say which card it is about.
fn nameless(log: &str) -> String {
    fixture(log).lines().filter(|line| !line.contains("cid:") && !line.contains("/dev/")).collect::<Vec<_>>().join("\n")
        + "\n"
}

fn align_rows(log: &str) -> String {
    fixture(log).lines().filter(|line| line.starts_with("align")).collect::<Vec<_>>().join("\n") + "\n"
}

fn findings(text: &str) -> Findings {
    let parsed = flashscope_transcript::parse(text);
    let mut found = infer(&parsed.observations);
    if parsed.several_devices {
        of_several_devices(&mut found);
    }
    found
}

fn warns_of_two(found: &Findings) -> bool {
    found.notes.iter().any(|note| note.kind == NoteKind::SeveralDevices)
}

#[test]
fn two_cards_in_one_log_are_noticed_without_their_names() {
    for (what, text) in [
        ("usb-reader-2mib and card-13", fixture("usb-reader-2mib") + &nameless("card-13")),
        ("usb-reader-2mib and card-9", fixture("usb-reader-2mib") + &nameless("card-9")),
        ("rows of card-14 and card-2", align_rows("card-14") + &align_rows("card-2")),
        ("card-13 and card-14", nameless("card-13") + &nameless("card-14")),
        ("card-9 and card-13, which read nearly alike", nameless("card-9") + &nameless("card-13")),
        ("card-2 and card-9, named", fixture("card-2") + &fixture("card-9")),
    ] {
        let found = findings(&text);
        assert!(warns_of_two(&found), "{what}: {:#?}", found.notes);
        let geometry = &found.geometry;
        for sure in [geometry.allocation_unit.confidence(), geometry.page.confidence()] {
            assert!(sure.is_none_or(|sure| sure <= 0.5), "{what}: {geometry:?}");
        }
        assert!(geometry.open_units_linear.is_unknown() && geometry.open_units_random.is_unknown(), "{what}");
        assert!(geometry.fast_area.is_unknown() && geometry.random_order_penalty.is_unknown(), "{what}");
        assert!(found.advice.is_empty(), "{what}");
    }
}

#[test]
fn no_published_log_passes_for_two_devices() {
    let folder = format!("{}/../../fixtures/field", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let found = findings(&std::fs::read_to_string(&path).expect("a log"));
            let doubt = found
                .notes
                .iter()
                .find(|note| note.text.contains("largest alignment") || note.text.contains("two devices"));
            assert!(doubt.is_none(), "{}: {doubt:?}", path.display());
        }
    }
}

#[test]
fn a_table_that_lost_its_head_is_said_and_costs_no_answer() {
    let text = fixture("card-27");
    let first = text.lines().position(|line| line.starts_with("align")).expect("a table");
    let headless: Vec<&str> =
        text.lines().enumerate().filter(|(at, _)| !(first..first + 3).contains(at)).map(|(_, line)| line).collect();
    let found = findings(&(headless.join("\n") + "\n"));
    assert!(found.notes.iter().any(|note| note.text.contains("seem to be lost")), "{:#?}", found.notes);
    assert!(!warns_of_two(&found), "{:#?}", found.notes);
    assert_eq!(found.geometry.allocation_unit.value(), Some(Bytes::mib(4)));
}

#[test]
fn a_table_that_is_cut_short_takes_nothing_from_whole_ones() {
    for log in ["card-9", "card-27"] {
        let text = fixture(log);
        let second = text.find("======= Align test: 2").expect("a second table");
        let third = text.find("============== Find FAT").expect("another test");
        let whole = findings(&text[..second]).geometry.allocation_unit;
        for end in (second..third).step_by(61).filter(|end| text.is_char_boundary(*end)) {
            let cut = findings(&text[..end]).geometry.allocation_unit;
            if whole.value().is_some() {
                assert_eq!(cut.value(), whole.value(), "{log} up to {end}: {cut:?}");
                assert!(
                    cut.confidence() >= whole.confidence().map(|sure| sure - 0.02),
                    "{log} up to {end}: {cut:?} {whole:?}"
                );
            }
            assert!(cut.value().is_none_or(|unit| unit == Bytes::mib(4)), "{log} up to {end}: {cut:?}");
        }
    }
}

#[test]
fn a_log_that_breaks_off_amid_a_line_says_so() {
    for log in ["card-9", "card-27"] {
        let text = fixture(log);
        let first = text.find("align 2147483648").expect("a table");
        let amid = |end: &usize| text.is_char_boundary(*end) && !text[..*end].ends_with(['\n', ' ', '\t']);
        let cuts: Vec<usize> = (first + 100..text.len() - 10).step_by(97).filter(amid).collect();
        let said = |end: &&usize| {
            let parsed = flashscope_transcript::parse(&text[..**end]);
            parsed.notes.iter().any(|note| note.ends_with("cut short"))
                || parsed.observations.runs.iter().any(|run| !run.complete)
        };
        let noticed = cuts.iter().filter(said).count();
        assert!(noticed * 10 >= cuts.len() * 9, "{log}: {noticed} of {}", cuts.len());
    }
}
