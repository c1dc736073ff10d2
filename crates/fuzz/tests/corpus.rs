//! The corpus replayed, and some changes of it: quick enough for every run of the tests.

use flashscope_fuzz::mutate::Mutator;
use flashscope_fuzz::{TARGETS, corpus};

/// Changed texts per target.
const CHANGES: usize = 150;

#[test]
fn no_target_panics_on_its_corpus_or_on_changes_of_it() {
    for target in TARGETS {
        let files = corpus(target.name).expect("a corpus");
        assert!(!files.is_empty(), "{} has no corpus", target.name);
        for (_, text) in &files {
            (target.run)(text);
        }
        let texts: Vec<Vec<u8>> = files.into_iter().map(|(_, text)| text).collect();
        let mut mutator = Mutator::new(7);
        for _ in 0..CHANGES {
            (target.run)(&mutator.next(&texts));
        }
    }
}
