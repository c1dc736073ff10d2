//! What all requests share: where things are, who may ask, and histories that are open.

use crate::attention::Watch;
use crate::guard::Names;
use crate::oops::Oops;
use crate::runs::Runs;
use crate::secret::Secret;
use flashscope_store::{Access, Store, StoreError};
use flashscope_supervisor::Folder;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Histories that are kept open for the next request.
const KEPT_OPEN: usize = 8;
/// Pages that change by themselves, at once.
const STREAMS: usize = 64;
/// Comparisons at once: each is a process.
const COMPARISONS: usize = 2;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: PathBuf,
    open: Mutex<Vec<Store>>,
    /// The labs that are shown, and what their pages are called by: their place.
    pub(crate) labs: Vec<Folder>,
    pub(crate) runs: Runs,
    pub(crate) watch: Watch,
    pub(crate) names: Names,
    pub(crate) tls: bool,
    /// The name of the cookie: of the port, so that two of these programs do not take each other's.
    pub(crate) cookie: String,
    pub(crate) token: Secret,
    /// What our forms hold, so that no form of another page is taken for one.
    pub(crate) form: Secret,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) comparisons: Semaphore,
    /// A folder of its own for what is handed to other processes.
    pub(crate) scratch: PathBuf,
}

/// Who may ask, and how.
#[derive(Debug)]
pub(crate) struct Entrance {
    pub(crate) names: Names,
    pub(crate) tls: bool,
    pub(crate) port: u16,
    pub(crate) token: Secret,
    pub(crate) form: Secret,
}

impl App {
    pub(crate) fn new(store: PathBuf, labs: Vec<Folder>, runs: Runs, scratch: PathBuf, entrance: Entrance) -> App {
        let Entrance { names, tls, port, token, form } = entrance;
        App {
            watch: Watch::start(store.clone()),
            store,
            open: Mutex::default(),
            labs,
            runs,
            names,
            tls,
            cookie: format!("flashscope-{port}"),
            token,
            form,
            streams: Arc::new(Semaphore::new(STREAMS)),
            comparisons: Semaphore::new(COMPARISONS),
            scratch,
        }
    }

    /// Asks the history; `None` where nobody has begun one.
    pub(crate) fn history<T>(&self, ask: impl FnOnce(&Store) -> Result<T, StoreError>) -> Result<Option<T>, Oops> {
        let kept = self.open.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let store = match kept.map_or_else(|| Store::open(&self.store, Access::Read), Ok) {
            Ok(store) => store,
            Err(StoreError::Missing(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let answer = ask(&store)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() < KEPT_OPEN {
            open.push(store);
        }
        Ok(Some(answer))
    }
}

/// Does what takes files and time on a thread that may wait.
pub(crate) async fn aside<T: Send + 'static>(
    app: &Arc<App>,
    act: impl FnOnce(&App) -> Result<T, Oops> + Send + 'static,
) -> Result<T, Oops> {
    let app = app.clone();
    let done = tokio::task::spawn_blocking(move || act(&app)).await;
    done.unwrap_or_else(|error| Err(Oops::failed(format!("a fault of flashscope itself: {error}"))))
}
