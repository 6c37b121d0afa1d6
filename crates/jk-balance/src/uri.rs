//! The path that rules see, and the path that is forwarded.
//!
//! Both come from one reading, so that what was matched is what Tomcat serves. The reading is httpd's and mod_jk's
//! (`jk_servlet_normalize`) but for one thing: an escape of a reserved byte stays an escape. `%3B` is a byte of a name here, as it
//! is for Tomcat; mod_jk makes a path parameter of it.
//!
//! ```text
//! /a;v=1/%7Eb/./c/../d%3Be   rules see   /a/~b/d;e      Tomcat gets   /a;v=1/~b/d%3Be
//! ```

use std::fmt;

/// Buffers that one reading after another may use.
#[derive(Debug, Default)]
pub struct Scratch {
    matched: Vec<u8>,
    proxy: Vec<u8>,
    ends: Vec<Segment>,
}

/// One path, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normal<'a> {
    /// Decoded once, path parameters taken off, double slashes and dots resolved.
    pub matched: &'a [u8],
    /// What goes to the worker under `forward_uri = "proxy"`.
    pub proxy: &'a [u8],
    /// The path holds `%2F` or `%5C`; in both forms they stand as they are, in upper case.
    pub escaped_slash: bool,
}

/// A path that nobody can read safely: 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPath {
    NotAbsolute,
    AboveRoot,
    Nul,
    BadEscape,
    Backslash,
    Control,
    /// The raw form would mean something else to Tomcat than to the rules.
    Ambiguous,
}

/// A segment of the forwarded form.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Where it begins in `proxy`, behind its slash.
    start: usize,
    /// Where its name ends and its parameters begin.
    name_end: usize,
}

/// Reads a request target's path, as received and without its query.
///
/// Most paths need no change; those are returned as they are, without a copy.
pub fn normalise<'a>(path: &'a [u8], scratch: &'a mut Scratch) -> Result<Normal<'a>, BadPath> {
    if path.first() != Some(&b'/') {
        return Err(BadPath::NotAbsolute);
    }
    if is_plain(path) {
        return Ok(Normal { matched: path, proxy: path, escaped_slash: false });
    }
    let Scratch { matched, proxy, ends } = scratch;
    matched.clear();
    proxy.clear();
    ends.clear();
    let mut escaped_slash = false;
    let mut segments = path.get(1..).unwrap_or_default().split(|b| *b == b'/').peekable();
    while let Some(raw) = segments.next() {
        let is_last = segments.peek().is_none();
        escaped_slash |= read_segment(raw, is_last, proxy, ends)?;
    }
    strip(proxy, ends, matched)?;
    Ok(Normal { matched, proxy, escaped_slash })
}

/// What `forward_uri = "escaped"` sends: the proxy form with escapes in lower case, as httpd writes them.
#[must_use]
pub fn escaped(proxy: &[u8]) -> Vec<u8> {
    let mut out = proxy.to_vec();
    let mut at = 0;
    while let Some(byte) = out.get(at) {
        if *byte == b'%'
            && let Some(digits) = out.get_mut(at + 1..at + 3)
        {
            digits.make_ascii_lowercase();
            at += 2;
        }
        at += 1;
    }
    out
}

/// Whether Tomcat, given the raw path, will serve what was matched (`forward_uri = "unparsed"`).
///
/// Tomcat takes the parameters off each segment, decodes once and then resolves double slashes and dots.
pub fn check_unparsed(raw: &[u8], matched: &[u8]) -> Result<(), BadPath> {
    let mut resolved = Vec::with_capacity(raw.len());
    let mut starts = Vec::new();
    let mut segments = raw.get(1..).unwrap_or_default().split(|b| *b == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        let name = segment.split(|b| *b == b';').next().unwrap_or_default();
        let start = resolved.len();
        resolved.push(b'/');
        decode_name(name, &mut resolved)?;
        match resolved.get(start + 1..) {
            Some(b"." | b"") => {
                resolved.truncate(start);
                if is_last {
                    resolved.push(b'/');
                }
            }
            Some(b"..") => {
                resolved.truncate(starts.pop().ok_or(BadPath::AboveRoot)?);
                if is_last {
                    resolved.push(b'/');
                }
            }
            _ => starts.push(start),
        }
    }
    if resolved == matched { Ok(()) } else { Err(BadPath::Ambiguous) }
}

/// True when both forms are the path itself.
fn is_plain(path: &[u8]) -> bool {
    let mut before = 0;
    for &byte in path {
        if !IS_PLAIN.get(usize::from(byte)).copied().unwrap_or(false)
            || (before == b'/' && matches!(byte, b'/' | b'.'))
        {
            return false;
        }
        before = byte;
    }
    true
}

/// Appends one segment in its forwarded form, or resolves it if it is a plain dot segment, as httpd does before mod_jk sees the path.
/// True: it holds an escaped slash.
fn read_segment(
    raw: &[u8],
    is_last: bool,
    proxy: &mut Vec<u8>,
    ends: &mut Vec<Segment>,
) -> Result<bool, BadPath> {
    let name_len = raw.iter().position(|b| *b == b';').unwrap_or(raw.len());
    let (name, parameters) = raw.split_at_checked(name_len).unwrap_or((raw, &[]));
    let slash = proxy.len();
    proxy.push(b'/');
    let start = proxy.len();
    let escaped_slash = write_name(name, proxy)?;
    let name_end = proxy.len();
    write_parameters(parameters, proxy)?;
    let undo = match (proxy.get(start..name_end), parameters.is_empty()) {
        (Some(b"" | b"."), true) => Some(slash),
        (Some(b".."), true) => Some(ends.pop().ok_or(BadPath::AboveRoot)?.start.saturating_sub(1)),
        _ => None,
    };
    match undo {
        Some(to) => {
            proxy.truncate(to);
            if is_last {
                // "/a/." is the folder: the final slash stays.
                proxy.push(b'/');
                ends.push(Segment { start: to + 1, name_end: to + 1 });
            }
        }
        None => ends.push(Segment { start, name_end }),
    }
    Ok(escaped_slash)
}

/// Takes off the parameters and resolves what dots and empty names then stand bare: what mod_jk matches, and what Tomcat does.
fn strip(proxy: &[u8], ends: &[Segment], matched: &mut Vec<u8>) -> Result<(), BadPath> {
    let mut starts: Vec<usize> = Vec::new();
    for (index, segment) in ends.iter().enumerate() {
        let is_last = index + 1 == ends.len();
        let name = proxy.get(segment.start..segment.name_end).unwrap_or_default();
        let to = match name {
            b"" | b"." => matched.len(),
            b".." => starts.pop().ok_or(BadPath::AboveRoot)?,
            _ => {
                starts.push(matched.len());
                matched.push(b'/');
                decode_name(name, matched)?;
                continue;
            }
        };
        matched.truncate(to);
        if is_last {
            matched.push(b'/');
        }
    }
    Ok(())
}

/// The name in the form that mod_jk forwards (`jk_canonenc`), but with reserved escapes left alone. True: it holds an escaped slash.
fn write_name(name: &[u8], out: &mut Vec<u8>) -> Result<bool, BadPath> {
    let mut escaped_slash = false;
    let mut rest = name;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let (value, tail) = escape(rest)?;
            rest = tail;
            escaped_slash |= matches!(value, b'/' | b'\\');
            if is_unreserved(value) { out.push(value) } else { push_escape(out, value) }
        } else {
            write_raw(byte, out)?;
        }
    }
    Ok(escaped_slash)
}

/// Parameters arrive as sent; only what may not stand in a URI at all is escaped.
fn write_parameters(parameters: &[u8], out: &mut Vec<u8>) -> Result<(), BadPath> {
    let mut rest = parameters;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            escape(rest)?;
            out.push(byte);
        } else {
            write_raw(byte, out)?;
        }
    }
    Ok(())
}

fn write_raw(byte: u8, out: &mut Vec<u8>) -> Result<(), BadPath> {
    match byte {
        0 => return Err(BadPath::Nul),
        b'\\' => return Err(BadPath::Backslash),
        0x01..=0x1F | 0x7F => return Err(BadPath::Control),
        _ if byte == b';' || IS_PLAIN.get(usize::from(byte)).copied().unwrap_or(false) => out.push(byte),
        _ => push_escape(out, byte),
    }
    Ok(())
}

/// Decodes once; an escaped slash stays an escape, since it is no separator.
fn decode_name(name: &[u8], out: &mut Vec<u8>) -> Result<(), BadPath> {
    let mut rest = name;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (value, tail) = escape(rest)?;
        rest = tail;
        if matches!(value, b'/' | b'\\') { push_escape(out, value) } else { out.push(value) }
    }
    Ok(())
}

/// The byte that the two digits behind a `%` mean, and what follows them.
fn escape(rest: &[u8]) -> Result<(u8, &[u8]), BadPath> {
    let (&[high, low], rest) = rest.split_first_chunk::<2>().ok_or(BadPath::BadEscape)?;
    let digit = |b: u8| {
        char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or(BadPath::BadEscape)
    };
    match digit(high)? * 16 + digit(low)? {
        0 => Err(BadPath::Nul),
        value => Ok((value, rest)),
    }
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
}

/// RFC 3986 §2.3.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Bytes that stand for themselves in all three forms: what `jk_canonenc` leaves alone, without the semicolon.
const IS_PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        #[allow(clippy::indexing_slicing, reason = "at compile time, below 256")]
        {
            table[byte as usize] = is_unreserved(byte)
                || matches!(
                    byte,
                    b'/' | b'$' | b'+' | b'!' | b'*' | b'\'' | b'(' | b')' | b',' | b':' | b'@' | b'&' | b'='
                );
        }
        byte += 1;
    }
    table
};

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAbsolute => "the path does not begin with a slash",
            Self::AboveRoot => "the path leads above the root",
            Self::Nul => "the path holds a NUL byte",
            Self::BadEscape => "a percent sign is not followed by two hexadecimal digits",
            Self::Backslash => "the path holds a backslash",
            Self::Control => "the path holds a control character",
            Self::Ambiguous => "the raw path does not mean the same to the rules and to Tomcat",
        })
    }
}

impl std::error::Error for BadPath {}

#[cfg(test)]
#[path = "uri_tests.rs"]
mod tests;
