//! The flash of a card that was switched off.

use super::{Flash, NONE, Pages, Use};
use crate::ageing::SavedAgeing;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What is saved of [`Flash`].
#[derive(Serialize, Deserialize)]
pub(in crate::au_log) struct SavedFlash {
    map: Vec<u32>,
    present: Vec<Pages>,
    uses: Vec<Use>,
    valid: Vec<u32>,
    erases: Vec<u32>,
    free: VecDeque<u32>,
    spare: u32,
    read_only: bool,
    programmed: u64,
    switched: u64,
    ageing: Option<SavedAgeing>,
}

impl Flash {
    /// What there is to save of it.
    pub(in crate::au_log) fn saved(&self) -> SavedFlash {
        SavedFlash {
            map: self.map.clone(),
            present: self.present.clone(),
            uses: self.uses.clone(),
            valid: self.valid.clone(),
            erases: self.erases.clone(),
            free: self.free.clone(),
            spare: self.spare,
            read_only: self.read_only,
            programmed: self.programmed,
            switched: self.switched,
            ageing: self.ageing.as_ref().map(|ageing| ageing.saved()),
        }
    }

    /// Puts the flash of a new card of the same model into a saved state. That the pages add up is for the audit to see.
    ///
    /// # Errors
    /// What is not of this card.
    pub(in crate::au_log) fn restore(&mut self, saved: SavedFlash) -> Result<(), String> {
        let (blocks, subs) = (self.uses.len(), self.map.len());
        let lengths = [saved.uses.len(), saved.valid.len(), saved.erases.len()];
        if lengths.iter().any(|length| *length != blocks) || saved.map.len() != subs || saved.present.len() != subs {
            return Err(format!(
                "it has {} blocks for {} sub-units, not {blocks} for {subs}",
                lengths[0],
                saved.map.len()
            ));
        }
        let words = self.pages.div_ceil(64) as usize;
        let no_set = |pages: &Pages| matches!(pages, Pages::Some(bits) if bits.words.len() != words);
        let no_block = |block: &u32| *block as usize >= blocks;
        if saved.present.iter().any(no_set)
            || saved.free.iter().any(no_block)
            || saved.map.iter().any(|block| *block != NONE && no_block(block))
            || saved.valid.iter().any(|valid| *valid > self.pages)
            || saved.spare > self.spare
        {
            return Err("it has blocks that this card does not have".to_owned());
        }
        self.erased = saved.erases.iter().map(|&count| u64::from(count)).sum();
        (self.map, self.present, self.uses) = (saved.map, saved.present, saved.uses);
        (self.valid, self.erases, self.free) = (saved.valid, saved.erases, saved.free);
        (self.spare, self.read_only) = (saved.spare, saved.read_only);
        (self.programmed, self.switched) = (saved.programmed, saved.switched);
        match (&mut self.ageing, saved.ageing) {
            (Some(ageing), Some(saved)) => ageing.restore(saved),
            (None, None) => Ok(()),
            _ => Err("it ages, and the other does not".to_owned()),
        }
    }
}
