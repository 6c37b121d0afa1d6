//! Why a URL goes where it goes, step by step, for `jkgate explain` and the status page.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use jk_balance::{Ask, NoMember, Scratch, Tried};
use jk_config::{
    EncodedSlash, ForwardUri, ListenAddress, ListenerSpec, MappingKind, MappingSpec, Scheme, Stickiness,
    Target,
};

use crate::control::{Group, Plan};

/// A request as somebody describes it.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) method: String,
    pub(crate) is_https: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path and query, as a browser would send them.
    pub(crate) target: String,
    pub(crate) cookies: Vec<String>,
}

impl Question {
    /// From a URL, or a path alone.
    pub(crate) fn new(method: &str, url: &str, headers: &[(String, String)]) -> Self {
        let (is_https, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => (false, url),
        };
        let (authority, target) = match rest.find('/') {
            Some(at) if !url.starts_with('/') => rest.split_at_checked(at).unwrap_or((rest, "/")),
            Some(_) => ("", rest),
            None => (rest, "/"),
        };
        let named = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map(|(_, value)| value.as_str());
        let authority = if authority.is_empty() { named.unwrap_or("localhost") } else { authority };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        let cookies = headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("cookie"))
            .map(|(_, value)| value.clone());
        Self {
            method: method.to_owned(),
            is_https,
            host: host.trim_matches(['[', ']']).to_ascii_lowercase(),
            port: port.unwrap_or(if is_https { 443 } else { 80 }),
            target: target.to_owned(),
            cookies: cookies.collect(),
        }
    }
}

/// The answer, as lines.
pub(crate) fn explain(plan: &Plan, question: &Question) -> String {
    let mut out = String::new();
    let Question { method, host, port, target, .. } = question;
    let raw = target.split(['?', '#']).next().unwrap_or_default();
    let _infallible = writeln!(out, "{method} {target} for host {host}, port {port}");
    let scheme = listeners(plan, question, &mut out);
    let mut scratch = Scratch::default();
    let normal = match jk_balance::normalise(raw.as_bytes(), &mut scratch) {
        Ok(normal) => normal,
        Err(bad) => {
            let _infallible = writeln!(out, "  answered with 400: {bad}");
            return out;
        }
    };
    let matched = String::from_utf8_lossy(normal.matched).into_owned();
    let _infallible = writeln!(out, "  path that rules see: {matched}");
    let found = rules(plan, question, normal.matched, &mut out);
    let Some((mapping, target)) = found else {
        let _infallible = writeln!(out, "  answered with 404: no rule serves it");
        return out;
    };
    if normal.escaped_slash && mapping.options.encoded_slash != Some(EncodedSlash::Forward) {
        let _infallible = writeln!(
            out,
            "  answered with 400: %2F or %5C in the path; the rule may allow it with encoded_slash = \"forward\""
        );
        return out;
    }
    let Some(group) = plan.groups.get(&target) else {
        let _infallible = writeln!(out, "  answered by the gateway itself");
        return out;
    };
    forwarded(&mapping, group, raw, normal, &mut out);
    seen_by_tomcat(question, scheme, &mut out);
    member(&mapping, group, question, raw, &mut out);
    out
}

/// Where the request may come in, and what these listeners say the scheme is, if they say the same. The rules are the same for all.
fn listeners(plan: &Plan, question: &Question, out: &mut String) -> Option<Scheme> {
    let all = plan.config.listeners();
    let is_asked = |listener: &ListenerSpec| match &listener.address {
        ListenAddress::Tcp(address) => address.port() == question.port,
        ListenAddress::Unix(_) => false,
    };
    let (asked, how) = match all.iter().filter(|one| is_asked(one)).collect::<Vec<_>>() {
        none if none.is_empty() => (all.iter().collect(), if all.len() > 1 { ", any of them" } else { "" }),
        some => (some, ""),
    };
    let named = |listener: &Arc<ListenerSpec>| format!("{} at {}", listener.name, listener.address);
    let names: Vec<String> = asked.iter().map(|listener| named(listener)).collect();
    let _infallible = writeln!(out, "  listener: {}{how}", names.join(", "));
    let scheme = asked.first()?.scheme;
    scheme.filter(|_| asked.iter().all(|listener| listener.scheme == scheme))
}

/// Which rule wins, and which lose.
fn rules(plan: &Plan, question: &Question, path: &[u8], out: &mut String) -> Option<(MappingSpec, Target)> {
    let tables = plan.hosts.tables(&question.host, question.port);
    for (depth, table) in tables.iter().enumerate() {
        let own = if tables.len() == 2 && depth == 0 { "this host's own" } else { "the global" };
        let explained = table.explain(path);
        let name = |index: usize| {
            table.mappings().get(index).map(|mapping| format!("\"{}\" ({})", mapping.written, mapping.origin))
        };
        for index in &explained.disabled {
            let _infallible = writeln!(out, "  {} is disabled", name(*index).unwrap_or_default());
        }
        if let Some((rule, exclusion)) = explained.excluded {
            let _infallible = writeln!(
                out,
                "  {} matches, but {} takes it away",
                name(rule).unwrap_or_default(),
                name(exclusion).unwrap_or_default()
            );
            return None;
        }
        if let Some(winner) = explained.winner.and_then(|index| table.mappings().get(index).cloned()) {
            let MappingKind::Map(target) = winner.kind.clone() else { return None };
            let _infallible = writeln!(
                out,
                "  rule: \"{}\" -> {} ({}), among {own} rules",
                winner.written,
                target_name(&target),
                winner.origin
            );
            for index in &explained.losers {
                let _infallible = writeln!(
                    out,
                    "    also matches and loses, being less specific: {}",
                    name(*index).unwrap_or_default()
                );
            }
            return Some(((*winner).clone(), target));
        }
    }
    None
}

fn forwarded(
    mapping: &MappingSpec,
    group: &Group,
    raw: &str,
    normal: jk_balance::Normal<'_>,
    out: &mut String,
) {
    let form = mapping.options.forward_uri.unwrap_or(group.spec.forward_uri);
    let uri = match form {
        ForwardUri::Proxy => String::from_utf8_lossy(normal.proxy).into_owned(),
        ForwardUri::Escaped => String::from_utf8_lossy(&jk_balance::escaped(normal.proxy)).into_owned(),
        ForwardUri::Unparsed => match jk_balance::check_unparsed(raw.as_bytes(), normal.matched) {
            Ok(()) => raw.to_owned(),
            Err(bad) => format!("nothing: 400, {bad}"),
        },
    };
    let _infallible = writeln!(out, "  URI that Tomcat gets: {uri}");
}

fn seen_by_tomcat(question: &Question, scheme: Option<Scheme>, out: &mut String) {
    let (is_https, whence) = match scheme {
        Some(scheme) => (scheme == Scheme::Https, "scheme as the listener says"),
        None => (question.is_https, "scheme as the listener or a trusted proxy says"),
    };
    let scheme = if is_https { "https" } else { "http" };
    let _infallible = writeln!(
        out,
        "  Tomcat sees: scheme {scheme}, server {} port {} (from Host; {whence})",
        question.host, question.port
    );
}

fn member(mapping: &MappingSpec, group: &Group, question: &Question, raw: &str, out: &mut String) {
    let spec = &group.spec;
    let cookie = mapping.options.session_cookie.as_deref().unwrap_or(&spec.session_cookie);
    let parameter = mapping.options.session_path.as_deref().unwrap_or(&spec.session_path);
    let cookies = question.cookies.iter().map(String::as_bytes);
    let looks = spec.stickiness != Stickiness::Off && !mapping.options.sticky_ignore;
    let ids: Vec<&[u8]> = if looks {
        jk_balance::session_ids(raw.as_bytes(), parameter, cookies, cookie).collect()
    } else {
        Vec::new()
    };
    let routes: Vec<&str> = ids.iter().filter_map(|id| jk_balance::route(id)).collect();
    let ask = Ask {
        routes: &routes,
        has_session: !ids.is_empty(),
        stateless: mapping.options.stateless,
        activation: Some(&mapping.options.activation),
        tried: &Tried::default(),
    };
    let _infallible = match ids.len() {
        0 => writeln!(out, "  session: none"),
        _ => writeln!(
            out,
            "  session: route {}",
            if routes.is_empty() { "none".to_owned() } else { routes.join(", ") }
        ),
    };
    let _infallible = match group.balancer.preview(&ask, Instant::now()) {
        Ok((index, how)) => {
            let worker = group.members.get(index);
            writeln!(
                out,
                "  member now: {} at {} ({}, method {:?})",
                worker.map_or("?", |worker| &worker.name),
                worker.map_or_else(String::new, |worker| worker.spec.address.to_string()),
                how.word(),
                spec.method,
            )
        }
        Err(why) => {
            writeln!(out, "  member now: none, answered with {}: {}", spec.unavailable.status, nobody(why))
        }
    };
}

fn nobody(why: NoMember) -> &'static str {
    match why {
        NoMember::AllDown => "every member is in error",
        NoMember::AllBusy => "every usable member is full; the request would wait",
        NoMember::StickyForced => "the session's member is away and sticky_session_force allows no other",
        NoMember::NoneActive => "no member is active",
    }
}

pub(crate) fn target_name(target: &Target) -> &str {
    match target {
        Target::Group(name) => name.as_str(),
        Target::Worker(name) => name.as_str(),
        Target::Status => "status",
        Target::Metrics => "metrics",
    }
}
