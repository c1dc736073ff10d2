//! A connection to the server: where it is, who speaks, and requests.

use crate::error::{HostsError, Kind};
use crate::{ASK, frame};
use async_nats::{Client, ConnectErrorKind, ConnectOptions};
use flashscope_lab::ask::{AgentAnswer, AgentAsk};
use flashscope_lab::work::is_name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long an answer is waited for. The coordinator gives up on its engine before.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(5);

/// Who speaks: a name that the server knows, and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The name, which is also that of the agent.
    pub name: String,
    secret: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret is none of a log's business.
        write!(f, "Token({})", self.name)
    }
}

impl Token {
    /// Reads a file that holds `NAME:SECRET`.
    ///
    /// # Errors
    /// It holds something else, or others may read it.
    pub fn read(path: &Path) -> Result<Token, HostsError> {
        let of = |what: String, hint: &str| HostsError::new(Kind::Given, format!("{}: {what}", path.display()), hint);
        let hint = "scripts/nats-server makes one for each agent, with NAME:SECRET in it";
        let text = std::fs::read_to_string(path).map_err(|error| of(format!("cannot be read: {error}"), hint))?;
        let mode = std::fs::metadata(path).map_or(0, |data| data.permissions().mode());
        if mode & 0o077 != 0 {
            let what = "others may read this token".to_owned();
            return Err(HostsError { kind: Kind::Unsafe, ..of(what, &format!("chmod 600 {}", path.display())) });
        }
        Token::parse(&text).ok_or_else(|| of("it is no token".to_owned(), hint))
    }

    fn parse(text: &str) -> Option<Token> {
        let (name, secret) = text.trim_end().split_once(':')?;
        let is_secret = !secret.is_empty() && secret.chars().all(|c| c.is_ascii_graphic());
        (is_name(name) && is_secret).then(|| Token { name: name.to_owned(), secret: secret.to_owned() })
    }
}

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: String,
    tls: bool,
    /// The certificate that vouches for the server's.
    authority: Option<PathBuf>,
}

impl Address {
    /// Takes `tls://HOST:PORT`, or `nats://HOST:PORT` where that never leaves this host.
    ///
    /// # Errors
    /// It is no address, or one whose talk others could hear.
    pub fn new(url: &str, authority: Option<PathBuf>) -> Result<Address, HostsError> {
        let odd = || {
            let hint = "it is tls://HOST:PORT, as tls://127.0.0.1:4222";
            HostsError::new(Kind::Given, format!("'{url}' is no address of a server"), hint)
        };
        let (scheme, place) = url.split_once("://").ok_or_else(odd)?;
        let (host, port) = place.rsplit_once(':').ok_or_else(odd)?;
        if host.is_empty() || port.parse::<u16>().is_err() || place.contains(['/', '@', '?', ' ']) {
            return Err(odd());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        match scheme {
            "tls" => Ok(Address { url: url.to_owned(), tls: true, authority }),
            "nats" if is_loopback => Ok(Address { url: url.to_owned(), tls: false, authority: None }),
            "nats" => Err(HostsError::new(
                Kind::Unsafe,
                format!("{url} would send the token and all records for everybody to read"),
                "tls://HOST:PORT and --ca FILE; without TLS only 127.0.0.1 and ::1 are spoken to",
            )),
            _ => Err(odd()),
        }
    }
}

/// An open connection, with the runtime that moves it while somebody waits here.
#[derive(Debug)]
pub struct Link {
    runtime: Runtime,
    client: Client,
    /// Who speaks.
    pub name: String,
}

impl Link {
    /// Connects. Afterwards it connects again by itself whenever the connection is lost.
    ///
    /// # Errors
    /// The server cannot be reached, shows another certificate, or does not know the token.
    pub fn open(address: &Address, token: &Token) -> Result<Link, HostsError> {
        let build = Builder::new_current_thread().enable_all().build();
        let runtime =
            build.map_err(|error| HostsError::new(Kind::Server, error, "the process has too few file handles"))?;
        let mut options = ConnectOptions::with_user_and_password(token.name.clone(), token.secret.clone())
            .name(format!("flashscope-lab {}", token.name))
            // Each reads its own answers: the server lets it hear nobody else's.
            .custom_inbox_prefix(format!("_INBOX_{}", token.name))
            .connection_timeout(CONNECTING)
            .request_timeout(Some(PATIENCE))
            .ping_interval(Duration::from_secs(5))
            .ignore_discovered_servers()
            .reconnect_delay_callback(|attempts| Duration::from_millis(50 * attempts.min(20) as u64))
            .require_tls(address.tls);
        if let Some(authority) = &address.authority {
            if let Err(error) = std::fs::metadata(authority) {
                let what = format!("{}: cannot be read: {error}", authority.display());
                return Err(HostsError::new(Kind::Given, what, "scripts/nats-server makes ca.pem"));
            }
            options = options.add_root_certificates(authority.clone());
        }
        let connected = runtime.block_on(options.connect(address.url.as_str()));
        let client = connected.map_err(|error| {
            use ConnectErrorKind::{Authentication, AuthorizationViolation, Tls};
            let (kind, hint) = match error.kind() {
                AuthorizationViolation | Authentication => {
                    (Kind::Given, "the server does not know this token: take one that its scripts/nats-server made")
                }
                Tls => (Kind::Given, "--ca names what vouches for the server, ca.pem of scripts/nats-server"),
                _ => (
                    Kind::Server,
                    "scripts/nats-server starts one; --server says where, --ca whose certificate is trusted",
                ),
            };
            HostsError::new(kind, format!("cannot reach {}: {error}", address.url), hint)
        })?;
        Ok(Link { runtime, client, name: token.name.clone() })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Says something to the coordinator as this agent, word for word.
    ///
    /// # Errors
    /// Nobody answers in time, or not in words of this version.
    pub fn agent_asks(&self, ask: &AgentAsk, record: &[u8]) -> Result<AgentAnswer, HostsError> {
        self.ask(format!("{ASK}.{}", self.name), ask, record).map(|(answer, _)| answer)
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Nobody answers in time, or not in words of this version.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        subject: String,
        words: &impl Serialize,
        bytes: &[u8],
    ) -> Result<(T, Vec<u8>), HostsError> {
        let asked = frame::pack(words, bytes);
        let hint = "`flashscope lab coordinator` has to run on this server; see its messages";
        let answered = self.runtime.block_on(self.client.request(subject, asked.into()));
        let message = answered
            .map_err(|error| HostsError::new(Kind::Answer, format!("no coordinator answers: {error}"), hint))?;
        frame::unpack(&message.payload)
    }

    /// Lets the connection work for a while.
    pub fn rest(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_spoken_to_without_tls() {
        let kind = |url: &str| Address::new(url, None).err().map(|error| error.kind);
        for good in [
            "tls://127.0.0.1:4222",
            "tls://lab.example:4222",
            "nats://127.0.0.1:1",
            "nats://[::1]:1",
            "nats://localhost:1",
        ] {
            assert_eq!(kind(good), None, "{good}");
        }
        for open in
            ["nats://10.0.0.1:4222", "nats://lab.example:4222", "nats://127.0.0.1.example:1", "nats://[fe80::1]:1"]
        {
            assert_eq!(kind(open), Some(Kind::Unsafe), "{open}");
        }
        for odd in [
            "127.0.0.1:4222",
            "ws://127.0.0.1:1",
            "tls://",
            "tls://a",
            "nats://me@127.0.0.1:1",
            "tls://a:b",
            "tls://a:99999",
        ] {
            assert_eq!(kind(odd), Some(Kind::Given), "{odd}");
        }
    }

    #[test]
    fn a_token_is_a_name_and_a_secret_and_is_never_printed() {
        let token = Token::parse("rack-1:0123abcd\n").unwrap();
        assert_eq!((token.name.as_str(), format!("{token:?}").as_str()), ("rack-1", "Token(rack-1)"));
        for odd in ["", "secret", "a.b:c", "a*:c", "a:", ":c", "a:b c", "a:b\nc:d"] {
            assert_eq!(Token::parse(odd), None, "{odd}");
        }
    }
}
