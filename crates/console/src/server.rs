//! Where the server of many hosts is: options of every command that speaks to it.

use clap::Args;
use std::path::PathBuf;

/// Where the server is, and who speaks.
#[derive(Args, Clone, Debug)]
pub struct Server {
    /// The server: tls://HOST:PORT; nats://HOST:PORT without TLS, on this host alone
    #[arg(long, value_name = "URL")]
    pub server: String,
    /// The file that says who speaks (NAME:SECRET), as scripts/nats-server makes it
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
    /// The certificate that vouches for the server (ca.pem) [default: those that this host trusts]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}
