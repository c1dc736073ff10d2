//! A qualification as one page that can be handed on: a sheet that answers on top, printed by itself; then everything
//! that it rests on.

mod page;

pub use page::html;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
