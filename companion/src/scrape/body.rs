//! An answer's text, never more of it than allowed.

use std::io::{self, Write};

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt;

use super::error::ScrapeError;

/// How an answer is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
}

impl Packing {
    /// How an answer with these headers is packed.
    ///
    /// # Errors
    /// When it is packed in a way that was not asked for.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, ScrapeError> {
        match headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes().trim_ascii()) {
            None | Some(b"" | b"identity") => Ok(Self::Plain),
            Some(b"gzip" | b"x-gzip") => Ok(Self::Gzip),
            Some(other) => {
                let name = String::from_utf8_lossy(other).into_owned();
                Err(ScrapeError::Transport(format!("packed as {name:?}, which was not asked for")))
            }
        }
    }
}

/// Reads a body of at most `max` bytes, unpacked.
pub(super) async fn read<B>(mut body: B, packing: Packing, max: usize) -> Result<Vec<u8>, ScrapeError>
where
    B: BodyExt<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    // How much a packed answer unpacks to is not known beforehand.
    let announced = match packing {
        Packing::Plain => body.size_hint().lower(),
        Packing::Gzip => 0,
    };
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > max {
        return Err(ScrapeError::TooLarge(max));
    }
    let mut text = Text::new(packing, Bounded { bytes: Vec::with_capacity(announced), max });
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ScrapeError::Transport(super::fetch::root_cause(&error)))?;
        if let Ok(chunk) = frame.into_data() {
            text.take(&chunk).map_err(|error| fault(&error, max))?;
        }
    }
    text.end().map_err(|error| fault(&error, max))
}

fn fault(error: &io::Error, max: usize) -> ScrapeError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => ScrapeError::TooLarge(max),
        _ => ScrapeError::Transport(format!("cannot be unpacked: {error}")),
    }
}

enum Text {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
}

impl Text {
    fn new(packing: Packing, into: Bounded) -> Self {
        match packing {
            Packing::Plain => Self::Plain(into),
            Packing::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(into))),
        }
    }

    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(into) => into.write_all(chunk),
            Self::Gzip(unpack) => unpack.write_all(chunk),
        }
    }

    fn end(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain(into) => Ok(into.bytes),
            Self::Gzip(unpack) => Ok(unpack.finish()?.bytes),
        }
    }
}

/// Takes so many bytes and no more.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for Bounded {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        if chunk.len() > self.max - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
