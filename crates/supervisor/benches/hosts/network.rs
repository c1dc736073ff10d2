//! Two networks of the bench's own, with a cable between them that can be cut. Nothing of the host's network is touched.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;

/// This program is in the one, with server, coordinator and agents, the far agent in the other.
pub(crate) struct Network {
    near: String,
    far: String,
}

/// The address of the server in the near network: one of those for documentation, which lead nowhere.
pub(crate) const ADDRESS: &str = "198.51.100.1";

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).output().is_ok_and(|output| output.status.success())
}

impl Network {
    /// `None` where this machine does not let us.
    pub(crate) fn new() -> Option<Network> {
        let of = |side: &str| format!("fsc-{side}-{}", std::process::id());
        let network = Network { near: of("near"), far: of("far") };
        let (near, far) = (network.near.as_str(), network.far.as_str());
        let made = ip(&["netns", "add", near])
            && ip(&["netns", "add", far])
            && ip(&["-n", near, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", far])
            && ip(&["-n", near, "address", "add", &format!("{ADDRESS}/24"), "dev", "cable"])
            && ip(&["-n", far, "address", "add", "198.51.100.2/24", "dev", "cable"])
            && [near, far].into_iter().all(|name| {
                ip(&["-n", name, "link", "set", "lo", "up"]) && ip(&["-n", name, "link", "set", "cable", "up"])
            });
        let moved = || {
            let near = File::open(format!("/run/netns/{near}")).ok()?;
            // What this thread starts from now on is there as well.
            move_into_link_name_space(near.as_fd(), Some(LinkNameSpaceType::Network)).ok()
        };
        let moved = made && moved().is_some();
        moved.then_some(network)
    }

    /// Words before a command that is to run in the far network.
    pub(crate) fn before(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.far].iter().map(|word| word.to_string()).collect()
    }

    /// Cuts the cable, or mends it.
    pub(crate) fn set(&self, whole: bool) {
        ip(&["link", "set", "cable", if whole { "up" } else { "down" }]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.near]);
        ip(&["netns", "delete", &self.far]);
    }
}
