//! Asks a memory what its caches are made of: first how latency grows with size, then what depends on that.

use crate::infer::{self, Told};
use crate::plan;
use crate::question::{Memory, Question};
use flashscope_model::memory::{Chase, MemoryFinding, Pages, Quantity, Route};
use flashscope_units::Bytes;

/// Within which limits it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The largest stretch of memory.
    pub most: Bytes,
    /// Size of a small page.
    pub page: Bytes,
    /// Whether there are huge pages to ask for.
    pub huge: bool,
}

/// What was asked and what follows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected {
    /// Every answer.
    pub chases: Vec<Chase>,
    /// What follows.
    pub findings: Vec<MemoryFinding>,
}

/// Distances of pairs, in bytes: from two words of every line to two lines of every machine.
pub const DISTANCES: [u64; 7] = [8, 16, 32, 64, 128, 256, 512];
/// Pages of the largest chase of one place a page.
const MOST_PAGES: u64 = 16384;
/// Pairs are spread over so many times the first cache: every line is gone when it comes again, and the next cache holds it.
const TIMES_FIRST: u64 = 4;
/// The first cache where none shows.
const FIRST: Bytes = Bytes::kib(32);

/// Asks, and concludes from as much as was answered. `go_on` is told what is asked and the share that is behind, and says
/// whether to ask the next.
///
/// # Errors
/// What the memory says, or whoever is told.
pub fn inspect<M: Memory>(
    memory: &mut M,
    scope: Scope,
    told: &Told,
    mut go_on: impl FnMut(&str, f64) -> Result<bool, M::Error>,
) -> Result<Inspected, M::Error> {
    let mut chases = Vec::new();
    let first = sweeps(scope, plan::SPACING);
    // Known beforehand, so that the share of what is done is one of all.
    let all = (first.len() + pages(scope).len() + DISTANCES.len()) as f64;
    let mut ask = |questions: &[Question], chases: &mut Vec<Chase>| {
        for question in questions {
            if !go_on("inspect", chases.len() as f64 / all)? {
                return Ok(false);
            }
            chases.push(memory.chase(question)?);
        }
        Ok(true)
    };
    if ask(&first, &mut chases)? && ask(&pages(scope), &mut chases)? {
        let levels = infer::findings(&chases, scope.page, &Told::default());
        let mut sizes =
            levels.iter().filter(|finding| (finding.quantity, finding.level) == (Quantity::CacheSize, Some(1)));
        let l1 = sizes.find_map(|finding| finding.estimate.value()).map_or(FIRST, |size| Bytes(size as u64));
        if ask(&pairs(l1, scope), &mut chases)? {
            // Where a line has several places, what one of them brought serves the others, and no cache shows for itself.
            let line = infer::longer_line(&chases);
            if let Some(line) = line {
                ask(&sweeps(scope, line), &mut chases)?;
            }
        }
    }
    let findings = infer::findings(&chases, scope.page, told);
    Ok(Inspected { chases, findings })
}

/// The sweep that shows caches: in huge pages, which address translation hardly shows in; where there are none, page by page,
/// so that a translation serves all places of its page.
fn sweeps(scope: Scope, spacing: u64) -> Vec<Question> {
    match scope.huge {
        true => plan::sweep(Route::Random, Pages::Huge, &sizes(scope), spacing),
        false => plan::sweep(Route::ByPage, Pages::Small, &sizes(scope), spacing),
    }
}

/// Sizes of the sweep that shows caches.
pub fn sizes(scope: Scope) -> Vec<Bytes> {
    match scope.huge {
        true => plan::sizes(plan::SMALLEST, scope.most, plan::SPACING),
        false => plan::finer(scope.page, scope.most, scope.page.get(), plan::PER_OCTAVE_BY_PAGE),
    }
}

/// One place of each page: caches hold all of them, address translation does not.
fn pages(scope: Scope) -> Vec<Question> {
    let page = scope.page.get();
    let most = Bytes(scope.most.get().min(MOST_PAGES * page));
    plan::sweep(Route::PerPage, Pages::Small, &plan::sizes(Bytes(4 * page), most, page), plan::SPACING)
}

fn pairs(first: Bytes, scope: Scope) -> Vec<Question> {
    let span = Bytes(first.get().max(16 << 10).next_multiple_of(1 << 12) * TIMES_FIRST).min(scope.most);
    let pages = if scope.huge { Pages::Huge } else { Pages::Small };
    DISTANCES.map(|distance| Question { route: Route::Pairs, span, spacing: Bytes(distance), pages }).to_vec()
}
