//! Connections: bounded in number, and through TLS where certificates were given.

use anyhow::{Context, Result, anyhow};
use axum::serve::Listener;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Connections at once; a browser opens six.
const CONNECTIONS: usize = 256;
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Rest after the system refused a connection, as where no file may be opened any more.
const REST: Duration = Duration::from_millis(200);

/// TLS with a certificate and a key of the operator's.
///
/// # Errors
/// They cannot be read, or do not fit.
pub(crate) fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(certificate)?).collect();
    let chain = chain.map_err(|error| anyhow!("{}: {error}", certificate.display()))?;
    if chain.is_empty() {
        return Err(anyhow!("{} holds no certificate\nhint: name a file in the PEM format", certificate.display()));
    }
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?);
    let secret = secret.map_err(|error| {
        anyhow!("{} holds no private key: {error}\nhint: name a file in the PEM format", key.display())
    })?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions()?.with_no_client_auth().with_single_cert(chain, secret);
    let mut config = config.map_err(|error| {
        anyhow!(
            "{} and {} do not fit: {error}\nhint: name the key that the certificate was made for",
            certificate.display(),
            key.display()
        )
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A connection, and its place among those there may be.
pub(crate) struct Connection {
    stream: Stream,
    _place: OwnedSemaphorePermit,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Where connections come in.
pub(crate) struct Door {
    ready: mpsc::Receiver<(Connection, SocketAddr)>,
    at: SocketAddr,
}

impl Door {
    /// Opens it. Handshakes go on beside each other, so that who is slow at one holds up nobody else.
    pub(crate) fn open(listener: TcpListener, tls: Option<TlsAcceptor>) -> io::Result<Door> {
        let at = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(16);
        tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            while let Ok(place) = places.clone().acquire_owned().await {
                let Ok((stream, from)) = listener.accept().await else {
                    tokio::time::sleep(REST).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let (sender, tls) = (sender.clone(), tls.clone());
                tokio::spawn(async move {
                    let stream = match tls {
                        None => Stream::Plain(stream),
                        Some(tls) => match tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                            Ok(Ok(stream)) => Stream::Tls(Box::new(stream)),
                            Ok(Err(_)) | Err(_) => return,
                        },
                    };
                    let _ = sender.send((Connection { stream, _place: place }, from)).await;
                });
            }
        });
        Ok(Door { ready, at })
    }
}

impl Listener for Door {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self.ready.recv().await {
            Some(next) => next,
            // The task that listens ends with the program alone.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.at)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
