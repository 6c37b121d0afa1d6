//! Keys that name a file beside the configuration: what is read from it, and what may be wrong with it.

use std::path::Path;

use crate::fields::{At, Fields};
use crate::problem::{Place, Problem};
use crate::read::Reader;
use crate::spec::Secret;
use crate::users::{Password, User, parse_users};

impl Reader<'_> {
    pub(crate) fn secret(&mut self, fields: &Fields<'_>) -> (Option<Secret>, Option<Place>) {
        let written = fields.text("secret", self.problems);
        let Some(file) = fields.text("secret_file", self.problems) else {
            let place = written.as_ref().map(|at| at.place.clone());
            return (written.map(|at| Secret::new(&at.value)), place);
        };
        if let Some(written) = written {
            self.problems.push(
                Problem::error(written.place, "secret and secret_file are both set", "one of the two")
                    .related(file.place, "the other")
                    .help("Keep secret_file and take the secret out of this file."),
            );
            return (None, None);
        }
        let text = self.file(&file, "secret_file");
        if text.as_deref().is_some_and(|text| text.trim_end_matches(['\r', '\n']).is_empty()) {
            self.problems.push(Problem::error(
                file.place,
                "the secret file is empty",
                "expected the secret in it",
            ));
            return (None, None);
        }
        (text.map(|text| Secret::new(text.trim_end_matches(['\r', '\n']))), None)
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
