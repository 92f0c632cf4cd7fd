//! What two ranks say before their first message: each proves that it knows the job's secret, without sending
//! it (challenge and response by HMAC-SHA256, RFC 2104).

use std::io::{Error, ErrorKind, Read, Result, Write};

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The protocol and its version. Ranks of another version are refused.
const MAGIC: [u8; 8] = *b"partita1";
const BYTES: usize = 32;

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

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::PermissionDenied, what.to_owned())
}

fn take<const N: usize>(stream: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Introduces this rank to the rank that accepted the connection.
pub fn greet(stream: &mut (impl Read + Write), secret: &[u8], rank: usize) -> Result<()> {
    let magic: [u8; 8] = take(stream)?;
    if magic != MAGIC {
        return Err(refused("another program or version answers"));
    }
    let theirs: [u8; BYTES] = take(stream)?;
    let (ours, rank) = (random()?, (rank as u64).to_le_bytes());
    let mac = proof(secret, [b"connect", &theirs, &ours, &rank])?.finalize().into_bytes();
    stream.write_all(&[&rank[..], &ours, &mac].concat())?;
    let answer: [u8; BYTES] = take(stream)?;
    proof(secret, [b"accept", &theirs, &ours, &rank])?
        .verify_slice(&answer)
        .map_err(|_| refused("it has another secret"))
}

/// Admits a rank that connects here, and gives its number. A stranger is an error.
pub fn admit(stream: &mut (impl Read + Write), secret: &[u8]) -> Result<usize> {
    let ours = random()?;
    stream.write_all(&[&MAGIC[..], &ours].concat())?;
    let rank: [u8; 8] = take(stream)?;
    let theirs: [u8; BYTES] = take(stream)?;
    let answer: [u8; BYTES] = take(stream)?;
    proof(secret, [b"connect", &ours, &theirs, &rank])?
        .verify_slice(&answer)
        .map_err(|_| refused("it has another secret"))?;
    let mac = proof(secret, [b"accept", &ours, &theirs, &rank])?.finalize().into_bytes();
    stream.write_all(&mac)?;
    Ok(u64::from_le_bytes(rank) as usize)
}
