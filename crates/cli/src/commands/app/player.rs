//! The program that plays apps, started beside this one. It alone touches the file system that they are played on.

use super::cannot;
use crate::beside::Program;
use crate::error::Failure;
use crate::{interrupt, output};
use flashscope_app::wire::{Above, Ground, Line, Opened, Order, Play, Room, Run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// That program.
const PROGRAM: Program = Program { name: "flashscope-player", folder: "player", does: "plays apps" };
/// Its name.
const NAME: &str = PROGRAM.name;
/// How long it may take to leave nothing behind, where this program is to end at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// The player. When this is dropped it stops, leaves nothing behind, and ends.
pub(super) struct Player {
    process: Arc<Mutex<Process>>,
    told: Receiver<Line>,
    keeps: Option<String>,
}

struct Process {
    child: Child,
    /// Once it is closed the player comes to its end.
    to: Option<ChildStdin>,
}

impl Player {
    /// Starts it in its place, and says what that is like.
    ///
    /// # Errors
    /// There is no such program, or the place cannot be played in.
    pub(super) fn start(ground: &Ground) -> Result<(Player, Opened), Failure> {
        // Whoever asks to stop asks this program, which has the player stop in good order.
        interrupt::arm();
        let mut child = PROGRAM.start()?;
        let told = PROGRAM.lines(&mut child, |line| serde_json::from_str(line).ok(), Line::Error);
        let to = child.stdin.take();
        let process = Arc::new(Mutex::new(Process { child, to }));
        let mut player = Player { process, told, keeps: None };
        player.tell(&Order::Open(ground.clone()));
        let Line::Open(opened) = player.answer(|_| {})? else { return Err(odd()) };
        for left in &opened.left {
            output::talk(&format!("warning: {left} was left by a run that was killed\nhint: rm -r '{left}'"));
        }
        player.keeps = ground.keep.then(|| match &ground.above {
            Above::Directory(_) => opened.path.clone(),
            Above::Mount(mount) => format!(
                "{} on {}",
                Path::new(&opened.path)
                    .file_name()
                    .map_or_else(|| opened.path.clone().into(), |name| name.to_string_lossy()),
                mount.device
            ),
        });
        Ok((player, *opened))
    }

    /// What is to be done where the program has to end at once.
    pub(super) fn ender(&self) -> impl FnOnce() + Send + use<> {
        let process = Arc::clone(&self.process);
        move || locked(&process).end(PATIENCE)
    }

    /// Has an app played; `progress` is told how many performances are done. Where the operator asks to stop, what was done until
    /// then comes back.
    ///
    /// # Errors
    /// It could not be played at all.
    pub(super) fn play(&mut self, play: Play, progress: impl FnMut(u64)) -> Result<Run, Failure> {
        self.tell(&Order::Play(play));
        match self.answer(progress)? {
            Line::Run(run) => Ok(*run),
            _ => Err(odd()),
        }
    }

    /// Has the files of a run removed.
    ///
    /// # Errors
    /// The player has ended.
    pub(super) fn remove(&mut self, name: &str) -> Result<(), Failure> {
        self.done(&Order::Remove(name.to_owned()))
    }

    /// Has room made.
    ///
    /// # Errors
    /// A photo cannot be deleted.
    pub(super) fn make_room(&mut self, room: Room) -> Result<(), Failure> {
        self.done(&Order::MakeRoom(room))
    }

    /// Ends it: all that was written is on the device then.
    ///
    /// # Errors
    /// The device did not take what was written.
    pub(super) fn end(self) -> Result<(), Failure> {
        locked(&self.process).to = None;
        match self.told.iter().find_map(|line| if let Line::Error(why) = line { Some(why) } else { None }) {
            Some(why) => Err(cannot(why)),
            None => Ok(()),
        }
    }

    fn done(&mut self, order: &Order) -> Result<(), Failure> {
        if locked(&self.process).to.is_none() {
            // It was told to stop, and removes everything.
            return Ok(());
        }
        self.tell(order);
        match self.answer(|_| {})? {
            Line::Done => Ok(()),
            _ => Err(odd()),
        }
    }

    /// Where it does not read, it says why on the other side.
    fn tell(&self, order: &Order) {
        let text = serde_json::to_string(order).expect("an order is plain data") + "\n";
        let _ = locked(&self.process).to.as_mut().map(|to| to.write_all(text.as_bytes()));
    }

    fn answer(&self, mut progress: impl FnMut(u64)) -> Result<Line, Failure> {
        loop {
            if interrupt::asked() {
                // With its stdin gone it stops, and says what it has.
                locked(&self.process).to = None;
            }
            match self.told.recv_timeout(Duration::from_millis(100)) {
                Ok(Line::Progress(done, _)) => progress(done),
                Ok(Line::Error(why)) => return Err(cannot(why)),
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(cannot(PROGRAM.last_words(&mut locked(&self.process).child)));
                }
            }
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let mut process = locked(&self.process);
        process.to = None;
        let _ = process.child.wait();
        if let Some(path) = &self.keeps {
            output::talk(&format!("the files are in {path}"));
        }
    }
}

impl Process {
    /// Has it end, and waits for that a while.
    fn end(&mut self, most: Duration) {
        self.to = None;
        let begun = Instant::now();
        while begun.elapsed() < most && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn locked(process: &Mutex<Process>) -> MutexGuard<'_, Process> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

fn odd() -> Failure {
    cannot(format!(
        "{NAME} gave an odd answer\nhint: it is of another version; build both with `cargo build --release`"
    ))
}

/// Where it lies: beside this program.
///
/// # Errors
/// It is not there.
pub(super) fn program() -> Result<PathBuf, Failure> {
    PROGRAM.found()
}
