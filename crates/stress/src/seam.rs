//! The seam at which memory can be seen to fail: nothing happens here on a real machine, and faults are planted here to prove that they
//! are found.

/// One of the pieces of memory that a journey uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The copies that are kept.
    Kept,
    /// The buffer that is handed to the device.
    Out,
    /// The buffer that is read into first.
    Back,
    /// Another buffer that is read into.
    Other,
}

/// What may happen to memory, and what has to happen before it is looked at again. `block` is the block whose data it holds.
pub trait Seam {
    /// It was just written by a copy, or by the device.
    fn written(&mut self, slot: Slot, block: u32, memory: &mut [u8]);
    /// It has stood for a while, nobody writing to it.
    fn stood(&mut self, slot: Slot, block: u32, memory: &mut [u8]);
    /// Words on their way from memory to the processor, `first` being the place of the first of them in the block.
    fn seen(&mut self, slot: Slot, block: u32, first: usize, words: &mut [u64]);
    /// The next look must come from memory, not from a cache of the processor.
    fn past_caches(&mut self);
}

/// Nothing is planted, and caches are not gone past.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSeam;

impl Seam for NoSeam {
    fn written(&mut self, _: Slot, _: u32, _: &mut [u8]) {}
    fn stood(&mut self, _: Slot, _: u32, _: &mut [u8]) {}
    fn seen(&mut self, _: Slot, _: u32, _: usize, _: &mut [u64]) {}
    fn past_caches(&mut self) {}
}

/// The memory of a journey. The buffers are as long as a block; where the device is asked past caches they lie as it wants them to.
#[derive(Debug)]
pub struct Memory<'a> {
    /// All blocks' kept copies.
    pub kept: &'a mut [u8],
    /// See [`Slot::Out`].
    pub out: &'a mut [u8],
    /// See [`Slot::Back`].
    pub back: &'a mut [u8],
    /// See [`Slot::Other`].
    pub other: &'a mut [u8],
}
