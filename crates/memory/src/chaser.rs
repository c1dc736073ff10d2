//! A real memory that answers questions: rings of pointers in pages of the wanted kind, chased on one processor.

use crate::pages::huge_share;
use crate::session::Session;
use crate::workers::{Watch, pin};
use anyhow::anyhow;
use flashscope_kernels::{Buffer, Ring};
use flashscope_mem::course::Course;
use flashscope_mem::plan;
use flashscope_mem::question::{Memory, Question};
use flashscope_mem::wire::SizeTest;
use flashscope_mem::{infer, inspect};
use flashscope_model::memory::{Chase, Pages, Quantity, Route};
use flashscope_units::Bytes;
use std::time::{Duration, Instant};

/// A stretch of loads takes at least this long: the clock and the calls around it are nothing against it.
const STRETCH: Duration = Duration::from_micros(400);
/// Stretches of each chase.
const STRETCHES: std::ops::Range<usize> = 7..31;
/// Loads before the first stretch take no longer than this: enough of them for the last cache to forget how the ring was laid.
const WARMING: Duration = Duration::from_millis(80);

/// The memory of this machine.
pub(crate) struct Chaser {
    most: Bytes,
    page: u64,
    /// Whether there is swap space that memory is to be kept out of, and whether all of it could be.
    lock: bool,
    pub(crate) locked: bool,
    /// Time for each question.
    time: Duration,
    laid: Option<(Pages, f64, Ring)>,
    /// The page that the latest chase by pages began at.
    used: u64,
    /// Stretches that were left out, as the thread did not run throughout.
    pub(crate) disturbed: u64,
}

impl Chaser {
    pub(crate) fn new(session: &Session, most: Bytes, questions: usize) -> Chaser {
        session.record.setup.processors.first().copied().map(pin);
        let page = session.record.setup.page.get();
        let lock = session.record.setup.swap > Bytes::ZERO;
        Chaser {
            most,
            page,
            lock,
            locked: lock,
            time: session.time() / questions.max(1) as u32,
            laid: None,
            used: 0,
            disturbed: 0,
        }
    }

    fn ring(&mut self, pages: Pages) -> anyhow::Result<(f64, &mut Ring)> {
        if self.laid.as_ref().is_none_or(|(laid, ..)| *laid != pages) {
            // One at a time: both might be more than is available.
            self.laid = None;
            let wanted = match pages {
                Pages::Small => flashscope_kernels::Pages::Small,
                Pages::Huge => flashscope_kernels::Pages::Huge,
            };
            let buffer = Buffer::new(self.most.get() as usize, wanted).map_err(|error| anyhow!("{error}"))?;
            self.locked &= self.lock && buffer.lock();
            let ring = Ring::new(buffer);
            self.laid = Some((pages, huge_share(ring.buffer()).unwrap_or(0.0), ring));
        }
        let (_, huge, ring) = self.laid.as_mut().expect("it was just laid");
        Ok((*huge, ring))
    }

    /// Where a chase by pages begins: each in others than the one before, as far as there are any. Where in a cache small pages lie is
    /// chance, and should be another one each time.
    fn pages_of_their_own(&mut self, question: &Question) -> u64 {
        if question.route != Route::ByPage {
            return 0;
        }
        let span = question.span.get();
        let room = self.most.get().saturating_sub(span) / self.page;
        self.used = (self.used + span / self.page) % (room + 1);
        self.used * self.page
    }

    /// Lays a ring for chases beside which others read.
    pub(crate) fn lay(&mut self, pages: Pages) -> anyhow::Result<&mut Ring> {
        let (most, page) = (self.most.get(), self.page);
        let (_, ring) = self.ring(pages)?;
        let course = Course::new(Route::Random, most, plan::SPACING, page);
        ring.lay(course.places(), |place| course.next(place), |place| course.offset(place) as usize);
        warm(ring);
        Ok(ring)
    }
}

impl Memory for Chaser {
    type Error = anyhow::Error;

    fn chase(&mut self, question: &Question) -> anyhow::Result<Chase> {
        let begun = Instant::now();
        let (page, time) = (self.page, self.time);
        let from = self.pages_of_their_own(question);
        let course = Course::new(question.route, question.span.get(), question.spacing.get(), page);
        let (huge, ring) = self.ring(question.pages)?;
        let from = from as usize;
        ring.lay(course.places(), |place| course.next(place), |place| from + course.offset(place) as usize);
        let per_load = warm(ring);
        let loads = ((STRETCH.as_nanos() as f64 / per_load.max(0.1)) as u64).max(1024);
        let (times_ns, disturbed) = stretches(ring, loads, begun + time);
        self.disturbed += disturbed;
        let Question { route, span, spacing, pages } = *question;
        Ok(Chase { route, span, spacing, places: course.places(), pages, huge, times_ns })
    }
}

/// Chases once around, or for a while; nanoseconds per load.
fn warm(ring: &mut Ring) -> f64 {
    let begun = Instant::now();
    let (wanted, mut done) = (ring.places().max(1 << 13), 0);
    while done < wanted && begun.elapsed() < WARMING {
        done += ring.chase((1 << 13).min(wanted));
    }
    begun.elapsed().as_nanos() as f64 / done.max(1) as f64
}

/// Times of stretches of so many loads until `end`, and how many were left out. Where none ran throughout, all are kept.
pub(crate) fn stretches(ring: &mut Ring, loads: u64, end: Instant) -> (Vec<f64>, u64) {
    let (mut times, mut disturbed) = (Vec::new(), Vec::new());
    while times.len() + disturbed.len() < STRETCHES.start || (times.len() < STRETCHES.end && Instant::now() < end) {
        let watch = Watch::start();
        let done = ring.chase(loads);
        let (took, whole) = watch.stop();
        let ns = took.as_nanos() as f64 / done as f64;
        if whole {
            times.push(ns)
        } else {
            disturbed.push(ns)
        }
        if disturbed.len() > 4 * STRETCHES.end {
            break;
        }
    }
    let left_out = disturbed.len() as u64;
    if times.is_empty() { (disturbed, 0) } else { (times, left_out) }
}

/// `latency`: sweeps in huge pages and in small ones.
pub(crate) fn latency(session: &mut Session, asked: SizeTest) -> anyhow::Result<()> {
    let most = plan::largest(asked.most.map(Bytes), session.last_cache(), session.may_take())?;
    let sizes = plan::sizes(plan::SMALLEST, most, plan::SPACING);
    let mut questions = Vec::new();
    if session.limits.huge {
        questions.extend(plan::sweep(Route::Random, Pages::Huge, &sizes, plan::SPACING));
    }
    questions.extend(plan::sweep(Route::Random, Pages::Small, &sizes, plan::SPACING));
    let mut chaser = Chaser::new(session, most, questions.len());
    for (at, question) in questions.iter().enumerate() {
        if !session.progress("latency", at as f64 / questions.len() as f64)? {
            break;
        }
        let chase = chaser.chase(question)?;
        session.record.latency.push(chase);
    }
    said(session, &chaser);
    Ok(())
}

/// `inspect`.
pub(crate) fn inspect(session: &mut Session, asked: SizeTest) -> anyhow::Result<()> {
    let most = plan::largest(asked.most.map(Bytes), session.last_cache(), session.may_take())?;
    let page = session.record.setup.page;
    let huge = session.limits.huge && gives_huge(session);
    let scope = inspect::Scope { most, page, huge };
    let told = infer::Told::of(&session.record.told);
    let pages = plan::sizes(plan::SMALLEST, most, plan::SPACING).len();
    let questions = inspect::sizes(scope).len() + pages + inspect::DISTANCES.len();
    let mut chaser = Chaser::new(session, most, questions);
    let found = inspect::inspect(&mut chaser, scope, &told, |what, share| session.progress(what, share))?;
    session.record.latency.extend(found.chases);
    session.record.findings = found.findings;
    if !huge {
        session.note("there were no huge pages: caches are told from small pages visited one after the other");
    }
    let wrong = session.record.findings.iter().filter(|finding| finding.quantity == Quantity::CacheSize);
    let differs = wrong
        .filter_map(|finding| Some((finding.estimate.value()?, finding.told?)))
        .any(|(found, told)| !(0.75..1.33).contains(&(found / told)));
    if differs {
        session.note(
            "what was inferred differs from what the machine tells; a guest shares caches, and may be told of others",
        );
    }
    said(session, &chaser);
    Ok(())
}

/// Whether the kernel gives huge pages, by asking for a few.
fn gives_huge(session: &Session) -> bool {
    let few = session.may_take().get().min(16 << 20) as usize;
    let Ok(mut buffer) = Buffer::new(few, flashscope_kernels::Pages::Huge) else { return false };
    buffer.words_mut().fill(1);
    huge_share(&buffer).is_some_and(|share| share > 0.5)
}

/// What disturbed the run, and pages that were not given.
fn said(session: &mut Session, chaser: &Chaser) {
    session.record.setup.locked = chaser.locked;
    if chaser.disturbed > 0 {
        session.note(format!(
            "{} stretches of loads were left out, as the thread did not run throughout",
            chaser.disturbed
        ));
    }
    let denied = session.record.latency.iter().any(|chase| chase.pages == Pages::Huge && chase.huge < 0.9);
    if denied {
        session.note("the kernel did not give all the huge pages that were asked for; `huge_ratio` says how many");
    }
}
