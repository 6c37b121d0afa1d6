//! What the old files allowed and the gateway does not take: told at its line, or set right and told; never written.

use crate::site::{file, import, lines, try_import};

#[test]
fn a_member_at_no_address_is_refused() {
    let conf = "Listen 80\n<Proxy balancer://b>\nBalancerMember ajp://h>:8009\n</Proxy>\nProxyPass /a balancer://b\n";
    let problems = try_import(&[file("httpd.conf", conf)], &[]).unwrap_err();
    assert!(lines(&problems)[0].contains("h>:8009 is no address of a Tomcat"), "{:?}", lines(&problems));
    assert_eq!(problems[0].line, 3);
}

#[test]
fn two_members_of_one_route_get_one_each() {
    let conf = "Listen 80\n<Proxy balancer://b>\nBalancerMember ajp://one:8009 route=x\nBalancerMember ajp://two:8009 route=x\n\
                BalancerMember ajp://three:8009 route=y\n</Proxy>\nProxyPass /a balancer://b\n";
    let site = import(&[file("httpd.conf", conf)]);
    assert!(
        site.warned().join("\n").contains("route \"x\" stands twice in group \"b\""),
        "{:?}",
        site.warned()
    );
    assert_eq!(site.members("b"), ["x x 1 0", "x-2 x-2 1 0", "y y 1 0"]);
}

#[test]
fn two_connectors_of_one_tomcat_are_one_worker() {
    let xml = "<Server><Service><Connector port=\"8009\" protocol=\"AJP/1.3\" secretRequired=\"false\"/>\
               <Connector port=\"8010\" protocol=\"AJP/1.3\" secretRequired=\"false\"/><Engine jvmRoute=\"t1\"/></Service></Server>";
    let site = import(&[file("server.xml", xml)]);
    assert_eq!(site.members("tomcat"), ["t1 t1 1 0"]);
    let told = site.imported.notes.iter().any(|note| note.text.contains("one worker is enough"));
    assert!(told, "{:?}", site.imported.notes);
}

#[test]
fn a_pattern_that_no_request_can_match_is_left_out() {
    let text = "[channel.socket:localhost:8009]\n[ajp13:localhost:8009]\nchannel=channel.socket:localhost:8009\n[uri:/a\u{c}b/*]\n[uri:/good/*]\n";
    let site = import(&[file("workers2.properties", text)]);
    assert_eq!(site.serves("/good/x"), "lb");
    assert!(site.warned().join("\n").contains("control characters"), "{:?}", site.warned());
}

#[test]
fn a_port_with_a_zero_in_front_is_the_same_port() {
    let conf = "Listen 80\nJkWorkerProperty worker.list=w\nJkWorkerProperty worker.w.host=127.0.0.1\n\
                <VirtualHost *:080 *:80 *:81>\nServerName x.example.test\nJkMount /a/* w\n</VirtualHost>\n";
    let site = import(&[file("httpd.conf", conf)]);
    assert_eq!(site.serves_at("x.example.test", 80, "/a/b"), "worker w", "{}", site.imported.toml);
}

#[test]
fn a_host_of_two_files_is_the_first_ones() {
    let text = "[channel.socket:localhost:8009]\n[uri:shop.example.test/*]\n";
    let site = import(&[file("workers2.properties", text), file("more/workers2.properties", text)]);
    assert!(site.warned().join("\n").contains("host shop.example.test stands twice"), "{:?}", site.warned());
    assert_eq!(site.serves_at("shop.example.test", 80, "/a"), "lb");
}
