//! Which known word a misspelt one was meant to be.
//! Knows words, not what they mean.

/// The nearest of `known` to `word`: at most a third of its letters wrong, swapped, missing or too many; the first of
/// several equally near ones. Dashes and underscores count as the same letter.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = normal(word);
    let limit = (word.len().div_ceil(3)).min(4);
    let scored = known.into_iter().map(|candidate| (distance(&word, &normal(candidate)), candidate));
    scored
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether one of the words, in lower case, stands in the name, whatever its case.
pub(crate) fn holds(name: &str, words: &[&str]) -> bool {
    if !name.is_ascii() {
        let name = name.to_lowercase();
        return words.iter().any(|word| name.contains(word));
    }
    // By hand: names are short, and a search made for long texts is slow on them where nothing is optimised.
    let name = name.as_bytes();
    let mut which = 0;
    while which < words.len() {
        let word = words[which].as_bytes();
        let mut at = 0;
        while at + word.len() <= name.len() {
            let mut same = 0;
            while same < word.len() {
                let letter = match name[at + same] {
                    letter @ b'A'..=b'Z' => letter + 32,
                    letter => letter,
                };
                if letter != word[same] {
                    break;
                }
                same += 1;
            }
            if same == word.len() {
                return true;
            }
            at += 1;
        }
        which += 1;
    }
    false
}

fn normal(word: &str) -> Vec<char> {
    // Long words are cut: a suggestion for a line of noise is worth no quadratic time.
    word.chars()
        .take(64)
        .map(|letter| if letter == '_' { '-' } else { letter.to_ascii_lowercase() })
        .collect()
}

/// Edits between two words: insert, delete, replace, swap neighbours (optimal string alignment).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::{holds, nearest};

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_noise_finds_none() {
        let known = ["session-discarded", "blind-retry", "cursor", "call"];
        assert_eq!(nearest("sesion_discarded", known), Some("session-discarded"));
        assert_eq!(nearest("blidn-retry", known), Some("blind-retry"));
        assert_eq!(nearest("curser", known), Some("cursor"));
        assert_eq!(nearest("cal", known), Some("call"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn a_word_is_found_anywhere_in_a_name_whatever_its_case() {
        for name in ["is_idempotent", "IDEMPOTENT", "xidempoten", "é_Idempotent"] {
            assert!(holds(name, &["safe", "idempoten"]), "{name}");
        }
        for name in ["idempote", "", "saf", "s_afe"] {
            assert!(!holds(name, &["safe", "idempoten"]), "{name}");
        }
        assert!(holds("", &[""]) && !holds("x", &[]));
    }
}
