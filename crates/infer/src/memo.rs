//! What was worked out before, for whoever asks again while only other things were measured.
//!
//! An adaptive run asks after every experiment what is known, and most experiments leave most of it as it was. A memo keeps,
//! for each kind of [`Question`], the last answer together with all that it rests on, and gives it again only where that is
//! the same: it decides how long an answer takes and never what it is. It knows none of those who ask: each keeps what it
//! wants kept under a type of its own.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// Memory for the questions of one run; see [`next`](crate::next). One that served another run does no harm.
#[derive(Debug, Default)]
pub struct Memo(RefCell<HashMap<TypeId, Rc<dyn Any>>>);

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
pub(crate) trait Question: 'static {
    /// What the answer rests on: all of it.
    type Given: Clone + PartialEq;
    /// The answer.
    type Answer: Clone;
}

/// The last answer to a question, with what it rests on.
type Latest<Q> = RefCell<Option<(<Q as Question>::Given, <Q as Question>::Answer)>>;

impl Memo {
    /// What a subject keeps for itself; as it begins where nothing was kept.
    pub(crate) fn of<T: Any + Default>(&self) -> Rc<T> {
        let mut kept = self.0.borrow_mut();
        let own = kept.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(T::default()));
        Rc::clone(own).downcast().expect("it is kept under its own type")
    }

    /// The answer, worked out where it was not asked for, or on other grounds, the last time.
    pub(crate) fn answer<Q: Question>(
        &self,
        given: &Q::Given,
        work_out: impl FnOnce(&Q::Given) -> Q::Answer,
    ) -> Q::Answer {
        let latest = self.of::<Latest<Q>>();
        if let Some((before, answer)) = &*latest.borrow()
            && before == given
        {
            return answer.clone();
        }
        let answer = work_out(given);
        *latest.borrow_mut() = Some((given.clone(), answer.clone()));
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
        let memo = Memo::default();
        let mut worked_out = 0;
        let mut ask = |given: u32| {
            memo.answer::<Double>(&given, |given| {
                worked_out += 1;
                2 * given
            })
        };
        assert_eq!([1, 1, 2, 1].map(&mut ask), [2, 2, 4, 2]);
        assert_eq!(worked_out, 3);
    }
}
