//! Keys that name a file beside the configuration: what is read from it, and what may be wrong with it.

use std::path::Path;

use crate::fields::{At, Fields};
use crate::problem::{Place, Problem};
use crate::read::Reader;
use crate::spec::Secret;
use crate::users::{Password, User, parse_users};

impl Reader<'_> {
    /// The secret of a worker or a group, from wherever the table has it; a table's own word counts before the defaults'.
    pub(crate) fn secret(&mut self, fields: &Fields<'_>) -> Option<Secret> {
        let set = fields.set_of(&["secret", "secret_file", "secret_env"]);
        let (key, place) = set.first()?.clone();
        if let Some((other, second)) = set.get(1) {
            self.problems.push(
                Problem::error(place, format!("{key} and {other} are both set"), "one of the two")
                    .related(second.clone(), "the other")
                    .help(format!("Keep {other} and take {key} out.")),
            );
            return None;
        }
        match key {
            "secret" => self.written_secret(fields),
            "secret_file" => {
                let file = fields.text(key, self.problems)?;
                let text = self.file(&file, key)?;
                self.not_empty(text.trim_end_matches(['\r', '\n']), place, "the secret file is empty")
            }
            _ => {
                let name = fields.text(key, self.problems)?.value;
                match std::env::var(&name) {
                    Ok(text) => {
                        self.not_empty(&text, place, &format!("the environment variable {name} is empty"))
                    }
                    Err(error) => {
                        let why = match error {
                            std::env::VarError::NotPresent => "it is not set",
                            std::env::VarError::NotUnicode(_) => "it is not UTF-8 text",
                        };
                        self.problems.push(
                            Problem::error(place, format!("the environment variable {name} holds no secret"), why)
                                .help("It counts as it was when this process began; set it where jkgate is started."),
                        );
                        None
                    }
                }
            }
        }
    }

    fn written_secret(&mut self, fields: &Fields<'_>) -> Option<Secret> {
        let At { value, place } = fields.hidden_text("secret", self.problems)?;
        if self.problems.sources.get(place.source).is_some_and(|source| is_world_readable(&source.path)) {
            self.problems.push(
                Problem::warning(place, "everybody on this machine can read this secret", "stands in a world-readable file")
                    .help("chmod 640 the file, or keep the secret in a file of its own and name it with secret_file."),
            );
        }
        Some(Secret::new(&value))
    }

    fn not_empty(&mut self, text: &str, place: Place, empty: &str) -> Option<Secret> {
        if text.is_empty() {
            self.problems.push(Problem::error(place, empty, "expected the secret in it"));
            return None;
        }
        Some(Secret::new(text))
    }

    pub(crate) fn users(&mut self, fields: &Fields<'_>) -> Option<Vec<User>> {
        let file = fields.text("users_file", self.problems)?;
        let text = self.file(&file, "users_file")?;
        match parse_users(&text) {
            Ok(users) => {
                if users.iter().any(|user| matches!(user.password, Password::Plain(_))) {
                    self.problems.push(
                        Problem::warning(
                            file.place,
                            "users_file holds a password as it is typed",
                            "whoever reads the file has it",
                        )
                        .help("htpasswd -B FILE NAME writes a hash in its place."),
                    );
                }
                Some(users)
            }
            Err(why) => {
                self.problems.push(Problem::error(file.place, "users_file cannot be understood", why));
                // Nobody, rather than everybody.
                Some(Vec::new())
            }
        }
    }

    /// Reads a file that a key names.
    pub(crate) fn file(&mut self, path: &At<String>, key: &str) -> Option<String> {
        let full =
            self.folder.map_or_else(|| Path::new(&path.value).to_owned(), |folder| folder.join(&path.value));
        match std::fs::read_to_string(&full) {
            Ok(text) => Some(text),
            Err(error) => {
                self.problems.push(
                    Problem::error(path.place.clone(), format!("{key} cannot be read"), error.to_string())
                        .help(format!("It was looked for at {}.", full.display())),
                );
                None
            }
        }
    }
}

fn is_world_readable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o004 != 0)
}
