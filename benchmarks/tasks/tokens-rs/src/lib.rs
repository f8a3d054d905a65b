// SPDX-License-Identifier: Apache-2.0

/// The lengths of the runs of equal tokens, in order.
pub fn groups(tokens: &[String]) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut rest: Vec<String> = tokens.to_vec();
    while !rest.is_empty() {
        let first = rest[0].clone();
        let length = rest.iter().take_while(|token| **token == first).count();
        lengths.push(length);
        rest = rest[length..].to_vec();
    }
    lengths
}

#[cfg(test)]
mod tests {
    fn of(text: &str) -> Vec<String> {
        text.split_whitespace().map(|token| token.to_string()).collect()
    }

    #[test]
    fn runs_are_counted() {
        assert_eq!(super::groups(&of("a a b a")), [2, 1, 1]);
    }

    #[test]
    fn no_tokens() {
        assert!(super::groups(&[]).is_empty());
    }
}
