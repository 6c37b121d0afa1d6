//! Basic authentication on the status page (RFC 7617).

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::StatusCode;
use http::header::AUTHORIZATION;
use http::request::Parts;
use jk_config::{Password, StatusSpec, User};
use tokio::sync::Semaphore;

use super::access::{Denied, denied, same};

/// Passes whoever needs no name, or gives one of `users_file` with its password, if `user` lists it; that name.
pub(super) async fn check(spec: &StatusSpec, parts: &Parts) -> Result<Option<String>, Denied> {
    let Some(users) = &spec.users else { return Ok(None) };
    let wanted = || denied(StatusCode::UNAUTHORIZED, "a user name and a password are needed");
    let (name, password) = credentials(parts).ok_or_else(wanted)?;
    let (users, any_case) = (users.clone(), spec.user_case_insensitive);
    let given = name.clone();
    // A hash takes a core for milliseconds, on purpose; requests must not wait for it, nor all cores be taken by guesses.
    // The turn ends with the work, even if the client has left.
    let turn = HASHING.acquire().await;
    let known = tokio::task::spawn_blocking(move || {
        let known = knows(&users, (&given, &password), any_case);
        drop(turn);
        known
    })
    .await;
    if !known.unwrap_or(false) {
        return Err(wanted());
    }
    let is_listed = spec.user.is_empty() || spec.user.iter().any(|user| alike(user, &name, any_case));
    if is_listed { Ok(Some(name)) } else { Err(denied(StatusCode::FORBIDDEN, "Access denied.")) }
}

static HASHING: Semaphore = Semaphore::const_new(1);

fn credentials(parts: &Parts) -> Option<(String, String)> {
    let header = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = header.split_once(' ')?;
    let decoded =
        BASE64_STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let (name, password) =
        String::from_utf8(decoded).ok()?.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
    Some((name, password))
}

/// An unknown name costs as much as a known one, so that time does not tell them apart.
fn knows(users: &[User], (name, password): (&str, &str), any_case: bool) -> bool {
    let user = users.iter().find(|user| alike(&user.name, name, any_case));
    let is_right = user.or(users.first()).is_some_and(|user| match &user.password {
        Password::Plain(secret) => same(secret.expose(), password),
        Password::Bcrypt(hash) => bcrypt::verify(password, hash.expose()).unwrap_or(false),
    });
    user.is_some() && is_right
}

fn alike(a: &str, b: &str, any_case: bool) -> bool {
    if any_case { a.eq_ignore_ascii_case(b) } else { a == b }
}
