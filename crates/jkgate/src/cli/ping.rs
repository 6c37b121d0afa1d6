//! `ping`: whether an AJP port is there, and what its Tomcat takes.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use bytes::BytesMut;
use jk_ajp::{PacketSize, Reply};

use super::probe::{Channel, encode, millis, name};
use super::words::{Get, Ping};
use super::{fail, print};

/// Connects and pings some times on one channel; asks for the secret and the packet size if that is wanted.
pub(super) fn ping(wanted: &Ping) -> ExitCode {
    match run(wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => fail(why),
    }
}

fn run(wanted: &Ping) -> Result<(), String> {
    let begin = Instant::now();
    let mut channel = Channel::open(&wanted.address, false).map_err(|why| {
        format!("{why}\n  Is the AJP connector on, and does it listen on this address? Tomcat's default is loopback only.")
    })?;
    print(&format!("connected to {} in {:.1} ms\n", wanted.address, millis(begin)));
    for _ in 0..wanted.count {
        let begin = Instant::now();
        let mut out = BytesMut::new();
        jk_ajp::write_cping(&mut out);
        match channel.send(&out, "CPING").and_then(|()| channel.receive()) {
            Ok(Reply::CPong) => {
                print(&format!("CPong in {:.2} ms\n", millis(begin)));
            }
            Ok(other) => return Err(format!("a CPing was answered with {}", name(&other))),
            Err(why) => {
                return Err(format!(
                    "{why}\n  Is this an AJP port? Tomcat's HTTP connector, usually 8080, does not answer a CPing."
                ));
            }
        }
    }
    let secret = wanted.secret_file.as_ref().map(secret).transpose()?;
    if let Some(secret) = &secret {
        match answer(channel, &head(Some(secret), PacketSize::default(), 1)?)? {
            403 => {
                return Err("Tomcat answered 403: the secret is not the one of this connector (attribute \"secret\" in server.xml)".to_owned());
            }
            status => print(&format!("the secret is accepted (answer {status})\n")),
        };
    }
    wanted.packet_size.map_or(Ok(()), |size| check_packets(wanted, secret.as_deref(), size))
}

fn secret(file: &PathBuf) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.trim_end().to_owned())
}

/// A head that fills a packet. To one that is larger than its packetSize Tomcat answers 400 or 500, whatever it would say otherwise.
fn check_packets(wanted: &Ping, secret: Option<&str>, size: PacketSize) -> Result<(), String> {
    let size_of = size.get();
    let small = head(secret, size, 1)?;
    let full = head(secret, size, size_of - small.len() + 1)?;
    let ask = |head: &[u8]| answer(Channel::open(&wanted.address, false)?, head);
    let usual = ask(&small)?;
    match ask(&full)? {
        status if status != usual => Err(format!(
            "Tomcat answered {status} to a packet of {size_of} bytes and {usual} to a small one: set packetSize=\"{size_of}\" at this connector in server.xml, or max_packet_size in workers.toml to what is set there (8192 by default)"
        )),
        403 if secret.is_none() => {
            Err("Tomcat answered 403: this connector wants a secret; name its file with --secret-file"
                .to_owned())
        }
        status => {
            print(&format!("packets of {size_of} bytes are accepted (answer {status})\n"));
            Ok(())
        }
    }
}

/// An OPTIONS request with a header of so many bytes.
fn head(secret: Option<&str>, size: PacketSize, filler: usize) -> Result<BytesMut, String> {
    let get = Get {
        url: String::new(),
        method: "OPTIONS".to_owned(),
        headers: vec![format!("x-filler: {}", "x".repeat(filler))],
        data: None,
        secret_file: None,
        verbose: false,
    };
    encode(&get, "localhost", "/", secret, (0, size))
}

/// The status that it is answered with.
fn answer(mut channel: Channel, head: &[u8]) -> Result<u16, String> {
    channel.send(head, "FORWARD_REQUEST")?;
    loop {
        if let Reply::SendHeaders(head) = channel.receive()? {
            return Ok(head.status);
        }
    }
}
