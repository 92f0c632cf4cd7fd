//! The handshake of two ranks before their first message: each proves that it knows the job's secret, without
//! sending it (challenge and response by HMAC-SHA256, RFC 2104).

use std::io::{Error, ErrorKind, Read, Result, Write};

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The protocol and its version. Ranks of another version are refused.
const MAGIC: [u8; 8] = *b"partita2";
const BYTES: usize = 32;

/// The refusal of a rank with another secret, in the place of a proof.
const REFUSAL: [u8; BYTES] = *b"partita: you have another secret";

/// The bytes that answer a [`Challenge`]: a rank, random bytes, a proof.
pub const ANSWER: usize = 8 + BYTES + BYTES;

/// Random bytes of the operating system.
pub fn random() -> Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(Error::other)?;
    Ok(bytes)
}

fn proof(secret: &[u8], parts: [&[u8]; 4]) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).map_err(Error::other)?;
    parts.iter().for_each(|part| mac.update(part));
    Ok(mac)
}

fn stranger(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn take<const N: usize>(stream: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => stranger("it closes the connection"),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => stranger("it stays silent"),
        _ => error,
    })?;
    Ok(bytes)
}

/// Introduces this rank to the rank that accepted the connection.
///
/// # Errors
/// `PermissionDenied` if that rank has another secret; a stranger.
pub fn greet(stream: &mut (impl Read + Write), secret: &[u8], rank: usize) -> Result<()> {
    let magic: [u8; 8] = take(stream)?;
    if magic != MAGIC {
        return Err(stranger("another program or version answers"));
    }
    let theirs: [u8; BYTES] = take(stream)?;
    let (ours, rank) = (random()?, (rank as u64).to_le_bytes());
    let mac = proof(secret, [b"connect", &theirs, &ours, &rank])?.finalize().into_bytes();
    stream.write_all(&[&rank[..], &ours, &mac].concat())?;
    let answer: [u8; BYTES] = take(stream)?;
    if answer == REFUSAL {
        return Err(Error::new(ErrorKind::PermissionDenied, "it has another secret than this rank"));
    }
    proof(secret, [b"accept", &theirs, &ours, &rank])?
        .verify_slice(&answer)
        .map_err(|_| stranger("it does not know the secret"))
}

/// The question that a process that connects here must answer to be admitted as a rank.
pub struct Challenge([u8; BYTES]);

impl Challenge {
    /// A new one, sent.
    pub fn send(stream: &mut impl Write) -> Result<Challenge> {
        let ours = random()?;
        stream.write_all(&[&MAGIC[..], &ours].concat())?;
        Ok(Challenge(ours))
    }

    /// The rank that answered, and whether it is admitted; it gets to know that.
    pub fn judge(
        &self,
        stream: &mut impl Write,
        secret: &[u8],
        answer: &[u8; ANSWER],
    ) -> Result<(usize, bool)> {
        let (rank, rest) =
            answer.split_first_chunk::<8>().unwrap_or_else(|| unreachable!("ANSWER is longer"));
        let (theirs, mac) = rest.split_at(BYTES);
        let is_admitted = proof(secret, [b"connect", &self.0, theirs, rank])?.verify_slice(mac).is_ok();
        let mac = proof(secret, [b"accept", &self.0, theirs, rank])?.finalize().into_bytes();
        stream.write_all(if is_admitted { &mac } else { &REFUSAL })?;
        Ok((u64::from_le_bytes(*rank) as usize, is_admitted))
    }
}
