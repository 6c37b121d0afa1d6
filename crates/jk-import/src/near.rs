//! The known word that somebody probably meant.

/// At most two edits away, neighbouring letters swapped counting as one; letter case does not count.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 2).min(2);
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    // The last three rows are enough.
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let replace = cell(&old, j) + usize::from(x != y);
            let mut best = replace.min(cell(&old, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(cell(&older, j - 1) + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut old, row);
    }
    old.last().copied().unwrap_or(0)
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_meant() {
        for (word, meant) in [
            ("gruop", Some("group")),
            ("tomcatid", Some("tomcatId")),
            ("wbe", Some("web")),
            ("channel.sockets", Some("channel.socket")),
            ("elephant", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, ["group", "tomcatId", "web", "channel.socket"]), meant, "{word}");
        }
    }
}
