//! Records that go.

use crate::{Store, StoreError};
use rusqlite::{Transaction, TransactionBehavior};

impl Store {
    /// Removes these records with all that is known of them, all or none; gives the room back to the file system. Numbers are
    /// not given again.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn remove(&mut self, ids: &[i64]) -> Result<(), StoreError> {
        let all = |transaction: &Transaction<'_>| {
            transaction.execute_batch("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")?;
            let mut insert = transaction.prepare("INSERT OR IGNORE INTO gone VALUES (?1)")?;
            for id in ids {
                insert.execute([id])?;
            }
            transaction.execute_batch(
                "DELETE FROM reading WHERE record IN gone;
                 DELETE FROM body WHERE record IN gone;
                 DELETE FROM record WHERE id IN gone;
                 DELETE FROM figure WHERE id NOT IN (SELECT figure FROM reading);
                 DELETE FROM setup WHERE id NOT IN (SELECT setup FROM record WHERE setup IS NOT NULL);
                 DROP TABLE gone",
            )
        };
        let of = |error| StoreError::of(&self.path, error);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of)?;
        all(&transaction).map_err(of)?;
        transaction.commit().map_err(of)?;
        // Needs as much room again for a moment; without it the file keeps its size, and uses the room for what comes.
        let _ = self.connection.execute_batch("VACUUM");
        Ok(())
    }
}
