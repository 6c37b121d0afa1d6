//! Users of the status page, from a file of `NAME:PASSWORD` lines as `htpasswd` writes them.

use crate::spec::Secret;

/// Somebody who may see the status page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub password: Password,
}

/// How a password is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// As it is typed.
    Plain(Secret),
    /// Its bcrypt hash, `$2y$…`.
    Bcrypt(Secret),
}

/// One user a line; empty lines and lines that begin with `#` are passed over. The error says which line is wrong, and why.
pub(crate) fn parse_users(text: &str) -> Result<Vec<User>, String> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(parse_user).collect()
}

fn parse_user((number, line): (usize, &str)) -> Result<User, String> {
    let Some((name, password)) = line.split_once(':') else {
        return Err(format!("line {number} has no colon between a name and a password"));
    };
    let is_bcrypt = ["$2a$", "$2b$", "$2y$"].iter().any(|kind| password.starts_with(kind));
    let is_other = password.starts_with("{SHA}") || password.starts_with('$');
    match (name.is_empty() || password.is_empty(), is_bcrypt, is_other) {
        (true, ..) => Err(format!("line {number} has an empty name or password")),
        (_, true, _) if password.len() != BCRYPT_LENGTH => {
            Err(format!("line {number}: this bcrypt hash is not {BCRYPT_LENGTH} characters long"))
        }
        (_, true, _) => Ok(User { name: name.to_owned(), password: Password::Bcrypt(Secret::new(password)) }),
        (_, _, true) => {
            Err(format!("line {number}: only bcrypt hashes are known here; htpasswd -B makes them"))
        }
        (_, _, false) => Ok(User { name: name.to_owned(), password: Password::Plain(Secret::new(password)) }),
    }
}

const BCRYPT_LENGTH: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_users_or_say_why_not() {
        let hash = "$2y$05$6PXJSGQVKdPHYlqGBkW7IeFWhZ4hmpRSYyPyKkVgVU4TOgKI0d1hK";
        let users = parse_users(&format!("# night shift\r\n\nann:pass:word\n bob:{hash} \n")).unwrap();
        let names: Vec<_> = users.iter().map(|user| (user.name.as_str(), &user.password)).collect();
        assert_eq!(
            names,
            [
                ("ann", &Password::Plain(Secret::new("pass:word"))),
                ("bob", &Password::Bcrypt(Secret::new(hash))),
            ]
        );
        for (text, why) in [
            ("ann", "line 1 has no colon"),
            ("a:b\n:c", "line 2 has an empty name"),
            ("a:", "line 1 has an empty name or password"),
            ("a:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "htpasswd -B makes them"),
            ("a:$apr1$x$y", "htpasswd -B makes them"),
            ("a:$2y$05$short", "is not 60 characters long"),
        ] {
            let error = parse_users(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(!format!("{users:?}").contains("pass:word"), "a secret never prints itself");
    }
}
