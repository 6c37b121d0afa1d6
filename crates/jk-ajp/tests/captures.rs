//! Captured traffic between Apache httpd (mod_jk and mod_proxy_ajp) and Tomcat: every packet is read, every request can be written again
//! with the same meaning, and every reply is the same however the network cuts it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use bytes::BytesMut;
use jk_ajp::{Event, Exchange, HeadWriter, PacketSize, Packets, Reply, ReplyName, RequestBody, RequestLine};
use jk_worker::{Header, Request};
use serde_json::Value;

fn captures() -> Vec<Value> {
    let text = include_str!("data/exchanges.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap()).collect()
}

/// A packet, or the part of a long body that was left out: lines of eight bytes, each its own offset.
fn packet(text: &str) -> Vec<u8> {
    let Some(rest) = text.strip_prefix("pattern:") else { return bytes(text) };
    let (offset, len) = rest.split_once(':').unwrap();
    let (offset, len): (usize, usize) = (offset.parse().unwrap(), len.parse().unwrap());
    let data: Vec<u8> = (offset..offset + len)
        .map(|at| format!("{:07}\n", at / 8 * 8 % 10_000_000).as_bytes()[at % 8])
        .collect();
    jk_worker::packets::chunk(&data)
}

fn list<'a>(capture: &'a Value, key: &str) -> Vec<&'a str> {
    capture[key].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

fn largest() -> PacketSize {
    PacketSize::new(jk_ajp::MAX_PACKET).unwrap()
}

#[test]
fn there_are_many() {
    assert!(captures().len() > 250);
}

#[test]
fn every_packet_of_a_worker_says_what_was_told_of_it() {
    for capture in captures() {
        let name = capture["name"].as_str().unwrap();
        if name.contains("scripted") {
            continue;
        }
        for (text, told) in list(&capture, "reply").into_iter().zip(capture["told"].as_array().unwrap()) {
            let mut input = BytesMut::from(&packet(text)[..]);
            let payload = Packets::new(largest()).next(&mut input).unwrap().unwrap();
            assert!(input.is_empty(), "{name}: bytes are left over");
            match Reply::parse(payload).unwrap() {
                Reply::SendHeaders(head) => {
                    assert_eq!(
                        (told["type"].as_str(), told["status"].as_u64()),
                        (Some("SEND_HEADERS"), Some(u64::from(head.status)))
                    );
                    let headers: Vec<(String, String)> =
                        head.headers().map(|(name, value)| (shown(&name), latin(&value))).collect();
                    let expected: Vec<(String, String)> = told["headers"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|pair| {
                            // A name that came as a code is told with it.
                            let name = pair[0].as_str().or_else(|| pair[0]["name"].as_str()).unwrap();
                            (name.to_lowercase(), pair[1].as_str().unwrap().to_owned())
                        })
                        .collect();
                    assert_eq!(headers, expected, "{name}");
                }
                Reply::SendBodyChunk(_) => assert_eq!(told["type"], "SEND_BODY_CHUNK"),
                Reply::GetBodyChunk { .. } => assert_eq!(told["type"], "GET_BODY_CHUNK"),
                Reply::EndResponse { reuse } => {
                    assert_eq!(
                        (told["type"].as_str(), told["reuse"].as_u64()),
                        (Some("END_RESPONSE"), Some(u64::from(reuse)))
                    );
                }
                Reply::CPong => assert_eq!(told["type"], "CPONG"),
            }
        }
    }
}

fn shown(name: &ReplyName<'_>) -> String {
    match name {
        ReplyName::Known(known) => known.name().to_owned(),
        ReplyName::Other(bytes) => latin(bytes).to_lowercase(),
    }
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

/// Events of a stream that arrives in these pieces.
fn events(pieces: &[&[u8]]) -> Vec<String> {
    let mut packets = Packets::new(largest());
    let mut exchange = Exchange::new(RequestBody::None);
    let mut input = BytesMut::new();
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Ok(Some(payload)) = packets.next(&mut input) {
            let event = Reply::parse(payload).map(|reply| exchange.handle(reply));
            exchange.body_sent();
            events.push(format!("{event:?}"));
            // Some captures hold several exchanges of one channel.
            if matches!(event, Ok(Ok(Event::End { .. }))) {
                exchange = Exchange::new(RequestBody::None);
            }
        }
    }
    events
}

#[test]
fn a_reply_is_the_same_wherever_the_network_cuts_it() {
    for capture in captures() {
        let stream: Vec<u8> = list(&capture, "reply").into_iter().flat_map(packet).collect();
        let whole = events(&[&stream]);
        // Every byte of a short stream, and enough of a long one.
        let step = stream.len() / 150 + 1;
        for cut in (0..=stream.len()).step_by(step) {
            assert_eq!(events(&[&stream[..cut], &stream[cut..]]), whole, "{} cut at {cut}", capture["name"]);
        }
        if stream.len() < 3000 {
            let single: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(events(&single), whole);
        }
    }
}

#[test]
fn a_packet_that_is_cut_short_is_refused_or_waited_for() {
    for capture in captures().into_iter().step_by(7) {
        for text in list(&capture, "reply") {
            let whole = packet(text);
            let payload = &whole[4..];
            for len in 0..payload.len().min(400) {
                let _refused = Reply::parse(bytes::Bytes::copy_from_slice(&payload[..len]));
                let mut input = BytesMut::from(&whole[..len]);
                assert_eq!(Packets::new(largest()).next(&mut input).unwrap(), None);
            }
        }
    }
}

#[test]
fn every_request_can_be_written_again() {
    let mut written = 0;
    for capture in captures() {
        for text in list(&capture, "to") {
            let packet = bytes(text);
            if packet.get(4) != Some(&2) || packet.len() < 20 {
                continue;
            }
            // A body packet may begin like a request; only whole requests are meant.
            let Ok(request) = Request::decode(&packet[4..]) else { continue };
            let again = encode(&request);
            let mut read = Request::decode(&again[4..]).unwrap();
            read.packet = request.packet;
            for (ours, theirs) in read.headers.iter_mut().zip(&request.headers) {
                // Which of the two ways a known name goes is the sender's choice.
                ours.by_code = theirs.by_code;
                ours.name.clone_from(&theirs.name);
            }
            let sorted = |mut request: Request| {
                request.attributes.sort();
                request
            };
            assert_eq!(sorted(read), sorted(request), "{}", capture["name"]);
            written += 1;
        }
    }
    assert!(written > 200, "{written}");
}

fn encode(request: &Request) -> BytesMut {
    let raw = |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    let uri = raw(&request.uri);
    let line = RequestLine {
        method: &request.method,
        method_by_name: !request.method_by_code,
        protocol: &request.protocol,
        uri: &uri,
        remote_addr: &request.remote_addr,
        remote_host: request.remote_host.as_deref(),
        server_name: &request.server_name,
        server_port: request.server_port,
        is_ssl: request.is_ssl,
    };
    let mut out = BytesMut::new();
    let mut head = HeadWriter::new(&mut out, largest(), &line);
    for Header { name, value, .. } in &request.headers {
        head.header(&name.to_ascii_lowercase(), &raw(value));
    }
    let mut attributes = head.attributes();
    if let Some(secret) = &request.secret {
        attributes.secret(secret);
    }
    if let Some(query) = &request.query {
        attributes.query_string(&raw(query));
    }
    if let Some(route) = &request.route {
        attributes.route(route);
    }
    if let Some(bits) = request.ssl_key_size {
        attributes.ssl_key_size(bits);
    }
    for (name, value) in &request.attributes {
        match name.as_str() {
            "remote_user" => attributes.remote_user(value),
            "auth_type" => attributes.auth_type(value),
            "ssl_cert" => attributes.ssl_cert(value),
            "ssl_cipher" => attributes.ssl_cipher(value),
            "ssl_session" => attributes.ssl_session(value),
            _ => attributes.request_attribute(name, value),
        }
    }
    attributes.finish().unwrap();
    out
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_we_write_the_other_codec_reads(
            method in "(GET|POST|FOO|PROPFIND)",
            uri in "/[ -~]{0,40}",
            headers in proptest::collection::vec(("[a-z-]{1,20}", "[ -~]{0,60}"), 0..20),
            query in proptest::option::of("[ -~]{0,40}"),
        ) {
            let headers: Vec<Header> = headers
                .into_iter()
                .filter(|(name, _)| name != "content-length")
                .map(|(name, value)| Header { name, value, by_code: false })
                .collect();
            let request = Request { method_by_code: method != "FOO", method, protocol: "HTTP/1.1".into(), uri, remote_addr: "::1".into(), server_name: "a".into(), server_port: 80, headers, query, ..Request::default() };
            let packet = encode(&request);
            let mut read = Request::decode(&packet[4..]).unwrap();
            read.packet = 0;
            for header in &mut read.headers {
                header.by_code = false;
            }
            prop_assert_eq!(read, request);
        }

        #[test]
        fn no_bytes_break_the_reader(stream in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..300) {
            let cut = cut.min(stream.len());
            prop_assert_eq!(events(&[&stream]).len(), events(&[&stream[..cut], &stream[cut..]]).len());
        }

        #[test]
        fn body_packets_never_look_like_messages(available in 1usize..100_000, wanted in 1usize..70_000) {
            let len = jk_ajp::body_len(available, wanted, PacketSize::default());
            prop_assert!(len >= 1 && len <= available && len <= wanted && len <= 8186);
            prop_assert!(!matches!(len >> 8, 2 | 10));
        }
    }
}
