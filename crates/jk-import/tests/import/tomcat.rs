//! server.xml, alone and beside the web server's files.

use jk_import::NoteKind;

use crate::site::{Site, file, import, lines, refused};

fn server(connector: &str, engine: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<Server port=\"8005\">\n<!-- <Connector protocol=\"AJP/1.3\" port=\"1\"/> -->\n<Service name=\"Catalina\">\n\
         <Connector port=\"8080\" protocol=\"HTTP/1.1\"/>\n{connector}\n<Engine name=\"Catalina\" {engine}>\n</Engine>\n</Service>\n</Server>\n"
    )
}

fn beside(workers: &str, connector: &str, engine: &str) -> Site {
    let text = format!("worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=t1\n{workers}");
    import(&[file("workers.properties", text), file("server.xml", server(connector, engine))])
}

/// Whether it is warned of something at the connector.
fn warns(site: &Site, part: &str) -> bool {
    site.imported.notes.iter().any(|note| {
        note.kind == NoteKind::Warning && note.path.ends_with("server.xml") && note.text.contains(part)
    })
}

#[test]
fn two_sides_that_fit_are_not_spoken_of() {
    let site = beside(
        "worker.t1.host=127.0.0.1\nworker.t1.secret=s\nworker.t1.max_packet_size=65536\n",
        "<Connector protocol=\"AJP/1.3\" address=\"127.0.0.1\" port=\"8009\" secret=\"s\" packetSize=\"65536\"/>",
        "jvmRoute=\"t1\"",
    );
    assert!(
        !site.imported.notes.iter().any(|note| note.path.ends_with("server.xml")),
        "{:#?}",
        site.imported.notes
    );
}

#[test]
fn whatever_does_not_fit_is_pointed_out() {
    let ajp = |attributes: &str| {
        format!("<Connector protocol=\"org.apache.coyote.ajp.AjpNioProtocol\" port=\"8009\" {attributes}/>")
    };
    for (workers, attributes, engine, part) in [
        ("worker.t1.secret=a\n", "secret=\"b\"", "jvmRoute=\"t1\"", "secret is not that of worker \"t1\""),
        ("worker.t1.port=8009\n", "secret=\"b\"", "jvmRoute=\"t1\"", "worker \"t1\" has none"),
        ("worker.t1.port=8009\n", "", "jvmRoute=\"t1\"", "do not start it"),
        (
            "worker.t1.port=8009\n",
            "secretRequired=\"false\" packetSize=\"16384\"",
            "jvmRoute=\"t1\"",
            "packetSize is 16384 and max_packet_size of worker \"t1\" is 8192",
        ),
        (
            "worker.t1.max_packet_size=16384\n",
            "secretRequired=\"false\"",
            "jvmRoute=\"t1\"",
            "packetSize is 8192",
        ),
        ("worker.t1.port=8009\n", "secretRequired=\"false\"", "jvmRoute=\"other\"", "jvmRoute is \"other\""),
        ("worker.t1.port=8009\n", "secretRequired=\"false\"", "", "set jvmRoute=\"t1\""),
        (
            "worker.t1.host=192.0.2.1\n",
            "secretRequired=\"false\"",
            "jvmRoute=\"t1\"",
            "set address=\"192.0.2.1\"",
        ),
        (
            "worker.t1.port=9009\n",
            "secretRequired=\"false\"",
            "jvmRoute=\"t1\"",
            "no worker leads to the AJP connector on port 8009",
        ),
    ] {
        let site = beside(workers, &ajp(attributes), engine);
        assert!(warns(&site, part), "{part}\n{:#?}", site.imported.notes);
        assert!(!site.imported.notes.iter().any(|note| note.text.contains("\"b\"")), "a secret is told");
    }
    let site = beside(
        "worker.t1.connection_pool_size=400\n",
        &ajp("secretRequired=\"false\" maxThreads=\"50\" keepAliveTimeout=\"20000\""),
        "jvmRoute=\"t1\"",
    );
    assert!(
        site.has_note(NoteKind::Changed, 6, "maxThreads is 50")
            && site.has_note(NoteKind::Changed, 6, "20000 ms")
    );
}

#[test]
fn alone_it_is_enough_to_begin_with() {
    let connector =
        "<Connector protocol='AJP/1.3' port='8019' secret='a&quot;b' packetSize=\"16384\" address=\"::1\"/>";
    let site = import(&[file("server.xml", server(connector, "jvmRoute=\"node1\""))]);
    assert_eq!(site.members("tomcat"), ["node1 node1 1 0"]);
    assert_eq!(site.address("node1"), "[::1]:8019");
    let node1 = site.worker("node1");
    assert_eq!((node1.secret.as_ref().unwrap().expose(), node1.channel.max_packet_size), ("a\"b", 16384));
    assert_eq!(site.serves("/any"), "tomcat");
}

#[test]
fn without_an_ajp_connector_there_is_nothing_to_lead_to() {
    let problems = refused(&[file("server.xml", server("", ""))]);
    assert!(lines(&problems)[0].contains("there is no AJP connector"), "{:?}", lines(&problems));
}
