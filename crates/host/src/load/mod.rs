//! The load engines: lanes for workers that are to be as fast as the machine allows.
//!
//! A [`LoadFile`] is a second opening of a target that has passed all checks, with exactly the flags that were asked for;
//! [`LoadFile::lane`] makes one worker's lane along it. Nothing here falls back to another way in silence: what an engine
//! could not have is in [`LoadFile::path`] or an error. What surrounds a run is in [`evidence`] and [`usage`].

mod aio;
pub mod bare;
mod buffers;
pub mod evidence;
mod fault;
mod files;
mod folder;
mod lane;
mod looks;
mod map;
mod mapped;
mod null;
mod opened;
mod own;
mod posix;
mod residency;
mod space;
mod sync;
mod together;
mod uring;
pub mod usage;
mod whole;

pub use aio::AioLane;
pub use files::{LoadFile, Opening};
pub use folder::{Folder, FolderError, FolderFacts};
pub use lane::{AnyLane, LaneError, LaneKind, LaneOptions, SlotFill};
pub use map::MapLane;
pub use null::NullLane;
pub use own::{OwnFile, OwnFolder};
pub use space::{HostFile, HostFiles};
pub use sync::SyncLane;
pub use uring::UringLane;
pub use whole::{WholeFiles, WholeLane};
