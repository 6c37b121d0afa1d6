//! What a worker may send, cut anywhere; and what we send, read by the other codec.
#![no_main]

use bytes::BytesMut;
use jk_ajp::{Event, Exchange, HeadWriter, PacketSize, Packets, Reply, RequestBody, RequestLine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, rest)) = data.split_first() else { return };
    let whole = events(&[rest]);
    let at = usize::from(cut).min(rest.len());
    assert_eq!(whole, events(&[&rest[..at], &rest[at..]]), "cutting the stream changed it");
    encode(rest);
});

fn events(pieces: &[&[u8]]) -> Vec<Result<Event, String>> {
    let mut packets = Packets::new(PacketSize::default());
    let mut exchange = Exchange::new(RequestBody::None);
    let mut input = BytesMut::new();
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            match packets.next(&mut input) {
                Ok(None) => break,
                Ok(Some(payload)) => match Reply::parse(payload) {
                    Ok(reply) => {
                        if let Reply::SendHeaders(head) = &reply {
                            assert_eq!(head.headers().count(), head.len());
                        }
                        let event = exchange.handle(reply).map_err(|error| error.to_string());
                        exchange.body_sent();
                        let ended = event.is_err();
                        events.push(event);
                        if ended {
                            return events;
                        }
                    }
                    Err(error) => {
                        events.push(Err(error.to_string()));
                        return events;
                    }
                },
                Err(error) => {
                    // Told as soon as it is seen, which may be before the rest has come.
                    events.push(Err(error.to_string().split(' ').take(3).collect::<Vec<_>>().join(" ")));
                    return events;
                }
            }
        }
    }
    events
}

fn encode(data: &[u8]) {
    let text: String = data.iter().filter(|b| b.is_ascii_graphic()).map(|b| char::from(*b)).collect();
    let (name, value) = text.split_at(text.len() / 3);
    let line = RequestLine {
        method: if data.len() % 2 == 0 { "GET" } else { "FOO" },
        method_by_name: data.len() % 3 == 0,
        protocol: "HTTP/1.1",
        uri: value.as_bytes(),
        remote_addr: "192.0.2.1",
        remote_host: None,
        server_name: "a",
        server_port: 80,
        is_ssl: false,
    };
    let mut out = BytesMut::from(&b"before"[..]);
    let mut head = HeadWriter::new(&mut out, PacketSize::default(), &line);
    head.header("host", b"a");
    head.header(&name.to_ascii_lowercase(), value.as_bytes());
    let mut attributes = head.attributes();
    attributes.query_string(value.as_bytes());
    attributes.request_attribute("name", value);
    match attributes.finish() {
        Err(_) => assert_eq!(&out[..], b"before"),
        Ok(()) => {
            assert!(out.len() - 6 <= 8192);
            let _strict = jk_worker::packets::end(true);
        }
    }
}
