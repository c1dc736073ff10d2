//! What was worked out before, for whoever asks again while only other things were measured.
//!
//! An adaptive run asks after every experiment what is known, and most experiments leave most of it as it was. A memo holds
//! the last answer to a dear question together with all that the answer rests on, and gives it again only where that is
//! the same: it decides how long an answer takes and never what it is.

use crate::alignment::{Gathering, Turning, Weighing};
use crate::drive::Striping;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// Memory for the questions of one run; see [`next`](crate::next). One that served another run does no harm.
#[derive(Debug, Default)]
pub struct Memo {
    /// The places that were read around.
    pub(crate) places: Gathering,
    /// Which sizes explain the places that were read around.
    pub(crate) alignment: Latest<Weighing>,
    /// Which turn of kinds of pages explains the reads beside edges.
    pub(crate) kinds: Latest<Turning>,
    /// Which layout explains sets of reads handed over at once.
    pub(crate) stripes: Latest<Striping>,
}

/// An answer that other questions rest on: it is seen to be the same without looking into it.
#[derive(Debug)]
pub(crate) struct Shared<T>(Rc<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Shared<T> {
        Shared(Rc::new(value))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Rc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Shared<T>) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// A question that is dear to answer.
pub(crate) trait Question {
    /// What the answer rests on: all of it.
    type Given: Clone + PartialEq;
    /// The answer.
    type Answer: Clone;
}

/// The last answer to a question.
#[derive(Debug)]
pub(crate) struct Latest<Q: Question>(RefCell<Option<(Q::Given, Q::Answer)>>);

impl<Q: Question> Default for Latest<Q> {
    fn default() -> Self {
        Latest(RefCell::new(None))
    }
}

impl<Q: Question> Latest<Q> {
    /// The answer, worked out where it was not asked for, or on other grounds, the last time.
    pub(crate) fn answer(&self, given: &Q::Given, work_out: impl FnOnce(&Q::Given) -> Q::Answer) -> Q::Answer {
        if let Some((before, answer)) = &*self.0.borrow()
            && before == given
        {
            return answer.clone();
        }
        let answer = work_out(given);
        *self.0.borrow_mut() = Some((given.clone(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Double;

    impl Question for Double {
        type Given = u32;
        type Answer = u32;
    }

    #[test]
    fn an_answer_is_worked_out_again_only_on_other_grounds() {
        let latest: Latest<Double> = Latest::default();
        let mut worked_out = 0;
        let mut ask = |given: u32| {
            latest.answer(&given, |given| {
                worked_out += 1;
                2 * given
            })
        };
        assert_eq!([1, 1, 2, 1].map(&mut ask), [2, 2, 4, 2]);
        assert_eq!(worked_out, 3);
    }
}
