//! workers2.properties line by line: every case of the catalogue, and what mod_jk2 really did.

use jk_import::NoteKind;

use crate::site::{Site, file, import, lines, refused, seconds};

/// A file that is complete but for the lines in question, which begin on line 3.
fn whole(lines: &str) -> String {
    format!("[channel.socket:h:8009]\n[uri:/base/*]\n{lines}")
}

fn site(lines: &str) -> Site {
    import(&[file("workers2.properties", whole(lines))])
}

fn errors(text: &str) -> Vec<String> {
    let problems = refused(&[file("workers2.properties", text)]);
    problems.iter().map(|problem| format!("{} {}", problem.line, problem.id.unwrap_or("-"))).collect()
}

#[test]
fn every_error_of_the_catalogue() {
    for (lines, expected) in [
        ("[lb:web", "3 W2-101"),
        ("[uri:/a#b]", "3 W2-101"),
        ("[lb:web]\nnothing", "4 W2-103"),
        ("[lb:web]\n=5", "4 W2-104"),
        ("[lb:web]\nrecovery=", "4 W2-104"),
        ("[lb:web]\nrecovery =5", "4 W2-105"),
        ("[lb:web]\nrecovery= 5", "4 W2-105"),
        ("[lb:web]\nreco\u{0}very=5", "4 W2-108"),
        ("[:web]", "3 W2-110"),
        ("[ lb:web]", "3 W2-110"),
        ("[lb:web ]", "3 W2-110"),
        ("[balancer:web]", "3 W2-201"),
        ("[status]", "3 W2-202"),
        ("[lb]", "3 W2-202"),
        ("[ajp13]", "3 W2-202"),
        ("[uri]", "3 W2-202"),
        ("[channel.socket]", "3 W2-202"),
        ("[channel.socket:]", "3 W2-205"),
        ("[channel.socket:h:http]", "3 W2-205"),
        ("[channel.socket:::1:8009]", "3 W2-205"),
        ("[channel.un:relative]", "3 W2-205"),
        ("[uri:/a:b/c]", "3 W2-206"),
        ("[uri:w.test:http/c]", "3 W2-206"),
        ("[lb:web]\nsticky_session=1", "4 W2-301"),
        ("[lb:web]\nrecovery=1m", "4 W2-302"),
        ("[lb:web]\nstickySession=yes", "4 W2-303"),
        ("[lb:web]\nstickySession=2", "4 W2-303"),
        ("[channel.socket:x]\nhost=x\nport=99999", "5 W2-304"),
        ("[channel.socket:x]\nlb_factor=256", "4 W2-304"),
        ("[channel.socket:x]\nlb_factor=0", "4 W2-304"),
        ("[channel.socket:x]\nlevel=-1", "4 W2-304"),
        ("[lb:web]\nnoWorkerCode=99", "4 W2-304"),
        ("[logger]\nlevel=warn", "4 W2-304"),
        ("[logger.file:0]\nfile=\"/a b\"", "4 W2-305"),
        ("[uri:/a]\ngroup=nobody", "4 W2-401"),
        ("[uri:/a]\ngroup=ajp13:nobody", "4 W2-401"),
        ("[uri:/a]\ngroup=status:", "4 W2-401"),
        ("[lb:web]\nworker=ajp13:nobody", "4 W2-401"),
        ("[ajp13:nobody]", "3 W2-402"),
        ("[uri:$/a[0-9]+]", "3 W2-407"),
        ("[uri:w.test$^/a]", "3 W2-407"),
    ] {
        assert_eq!(errors(&whole(lines)), [expected], "{lines}");
    }
    assert_eq!(errors("port=1\n[lb:web]\n"), ["1 W2-102"]);
}

#[test]
fn every_warning_of_the_catalogue() {
    let long = format!("[lb:web]\ninfo={}", "x".repeat(1100));
    for (lines, expected) in [
        ("[lb:web] text", "3 W2-106"),
        (long.as_str(), "4 W2-107"),
        ("[lb:web]\ninfo=a#b", "4 W2-111"),
        ("[lb:web]\ninfo=a\\", "4 W2-112"),
        ("[lb:web]\n[lb:web]", "4 W2-203"),
        ("[vm:]", "3 W2-204"),
        ("[lb:web]\nrecovery=1\nrecovery=2", "5 W2-306"),
        ("[uri:/a]\nworker=lb", "4 W2-308"),
        ("[lb:web]\ninfo=${nobody}", "4 W2-309"),
        ("[channel.socket:x:8019]\nport=8029", "4 W2-310"),
        ("[lb:web]\n[uri:/a]\ngroup=web", "4 W2-403"),
        ("[channel.socket:x]\ntomcatId=h:8009", "3 W2-404"),
        ("[uri:/a*]", "3 W2-405"),
        ("[uri:/m/*/x/*]", "3 W2-405"),
        ("[uri:w.test]\nalias=z.test", "4 W2-406"),
        ("[channel.socket:x]\nlevel=4", "4 W2-409"),
        ("[lb:web]\n[channel.socket:x]\ngroup=web\n[uri:/base/*.do]\ngroup=web", "6 W2-411"),
    ] {
        assert_eq!(site(lines).warned(), [expected], "{lines}");
    }
    let marked = import(&[file("workers2.properties", format!("\u{feff}{}", whole("")))]);
    assert_eq!(marked.warned(), ["1 W2-109"]);
    let latin1 = import(&[file("workers2.properties", b"[channel.socket:h:8009]\ninfo=\xe4\n".as_slice())]);
    assert_eq!(latin1.warned(), ["2 W2-109"]);
    assert!(latin1.imported.toml.contains("# \u{e4}"));
}

#[test]
fn what_is_only_said() {
    let quiet = site("[vm:]\ndisabled=1\n[uri:/one]\n[lb:lb]\nattempts=5\n");
    assert_eq!(quiet.warned(), [""; 0]);
    assert!(quiet.ids(NoteKind::Dropped).contains(&"3 W2-204".to_owned()));
    assert!(quiet.ids(NoteKind::Dropped).contains(&"7 W2-307".to_owned()));
    assert!(quiet.ids(NoteKind::Kept).contains(&"5 W2-408".to_owned()));
    let off = site("[uri:/off/*]\ndisabled=1\n[disabled:channel.socket:z:1]\nhost=z\n");
    assert_eq!(off.serves("/off/x"), "-");
    assert!(off.has_note(NoteKind::Changed, 3, "ignored disabled=1"));
    assert!(off.has_note(NoteKind::Dropped, 5, "switched off by its type"));
}

#[test]
fn the_address_is_the_one_that_mod_jk2_took() {
    for (lines, name, address) in [
        ("[channel.socket:x]", "x", "x:8009"),
        ("[channel.socket:x:8019]", "x:8019", "x:8019"),
        ("[channel.socket:x:8019]\nport=8029", "x:8019", "x:8019"),
        ("[channel.socket:x:8019]\nhost=y", "x:8019", "y:8009"),
        ("[channel.socket:x:8019]\nhost=y\nport=8029", "x:8019", "y:8029"),
        ("[channel.apr:x:8019]", "x:8019", "x:8019"),
        ("[channel.un:/run/x.sock]", "run_x.sock", "unix:/run/x.sock"),
        ("[config:]\nrun=/run\n[channel.un:${run}/x.sock]", "${run}_x.sock", "unix:/run/x.sock"),
    ] {
        assert_eq!(site(lines).address(name), address, "{lines}");
    }
}

#[test]
fn an_attribute_may_stand_in_the_channel_or_in_the_worker_and_the_later_one_counts() {
    let both =
        site("[ajp13:x]\ntomcatId=early\nlevel=1\n[channel.socket:x]\ntomcatId=late\ngroup=lb\ngroup=more\n");
    assert_eq!(both.members("more"), ["late late 1 1"]);
    assert_eq!(both.members("lb").len(), 2);
    let other = site("[lb:web]\nworker=ajp13:x\n[channel.socket:x]\ntomcatId=r\n");
    assert_eq!(other.members("web"), ["r r 1 0"]);
}

#[test]
fn costs_become_weights_that_share_alike() {
    let text = |costs: &[u32]| {
        let members = costs
            .iter()
            .enumerate()
            .map(|(n, cost)| format!("[channel.socket:m{n}]\ngroup=web\nlb_factor={cost}\n"));
        format!("[lb:web]\n{}", members.collect::<String>())
    };
    for (costs, weights) in [
        (vec![1, 3], vec![3, 1]),
        (vec![2, 3], vec![3, 2]),
        (vec![4, 4], vec![1, 1]),
        (vec![1, 2, 4], vec![4, 2, 1]),
        (vec![10, 20], vec![2, 1]),
    ] {
        let site = import(&[file("workers2.properties", text(&costs))]);
        let members =
            site.group("web").members.iter().map(|member| member.lbfactor.get()).collect::<Vec<_>>();
        assert_eq!(members, weights, "{costs:?}\n{}", site.imported.toml);
    }
    // Shares that no small weights can have are told and still read.
    let many = import(&[file("workers2.properties", text(&[251, 241, 239, 233, 229]))]);
    assert_eq!(many.group("web").members.len(), 5);
}

#[test]
fn a_route_that_stands_twice_stays_with_the_first() {
    let site = import(&[file(
        "workers2.properties",
        "[channel.socket:a]\ntomcatId=same\n[channel.socket:b]\ntomcatId=same\n[channel.socket:c]\ntomcatId=with/slash\n[uri:/*]\n",
    )]);
    assert_eq!(site.members("lb"), ["same same 1 0", "b b 1 0", "c c 1 0"]);
    assert!(site.has_note(NoteKind::Warning, 3, "stands twice"));
    assert!(site.has_note(NoteKind::Changed, 5, "cannot be one here"));
}

#[test]
fn a_secret_is_taken_over_and_never_told() {
    let site = site("[channel.socket:x]\nsecretkey=geheim\n");
    assert_eq!(site.worker("x").secret.as_ref().unwrap().expose(), "geheim");
    assert!(site.imported.notes.iter().all(|note| !note.text.contains("geheim")));
    let told = lines(&refused(&[file(
        "workers2.properties",
        whole("[channel.socket:x]\nsecretkey= geheim\n[lb:y]\nsecretkey=geheim\n"),
    )]));
    assert!(told.iter().all(|line| !line.contains("geheim")), "{told:?}");
}

#[test]
fn hosts_see_the_global_maps_as_one_map_with_their_own() {
    let site = import(&[file(
        "workers2.properties",
        "[lb:a]\n[lb:b]\n[channel.socket:h]\ngroup=a\ngroup=b\n[uri:/deep/er/*]\ngroup=a\n[uri:/*.jsp]\ngroup=a\n[uri:w.test/*]\ngroup=b\n[uri:v.test/x/*]\ngroup=b\n",
    )]);
    for (host, path, target) in [
        ("w.test", "/x", "b"),
        ("w.test", "/deep/er/x", "a"),
        ("w.test", "/x.jsp", "b"),
        ("v.test", "/x.jsp", "a"),
        ("v.test", "/x/y.jsp", "b"),
        ("v.test", "/deep/er/", "a"),
    ] {
        assert_eq!(site.serves_at(host, 80, path), target, "{host}{path}\n{}", site.imported.toml);
    }
    assert!(site.imported.toml.contains("inherited: [uri:/deep/er/*]"));
}

#[test]
fn settings_of_the_whole() {
    let site = site(
        "[workerEnv:]\nforwardURIEscaped=1\nnoRecoveryIfHeaderSent=1\n[logger]\nlevel=DEBUG\n[lb:lb]\nstickySession=0\nrecovery=0\nnoWorkerCode=302\nhwBalanceErr=503\n",
    );
    assert_eq!(site.config.log().filter, "debug");
    assert_eq!(site.group("lb").forward_uri, jk_config::ForwardUri::Escaped);
    assert_eq!(site.group("lb").recover_time, seconds(1));
    assert_eq!(site.group("lb").stickiness, jk_config::Stickiness::Off);
    assert!(site.worker("h:8009").recovery.abort_if_head());
    assert!(
        site.has_note(NoteKind::Dropped, 11, "noWorkerCode=302")
            && site.has_note(NoteKind::Dropped, 12, "hwBalanceErr=503")
    );
}
