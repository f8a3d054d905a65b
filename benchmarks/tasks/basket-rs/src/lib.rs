// SPDX-License-Identifier: Apache-2.0

/// The items of the first basket that are in the second one as well, each once, in the first one's order.
pub fn shared(first: &[String], second: &[String]) -> Vec<String> {
    let mut both: Vec<String> = Vec::new();
    for item in first {
        if second.contains(item) && !both.contains(item) {
            both.push(item.clone());
        }
    }
    both
}

#[cfg(test)]
mod tests {
    fn of(text: &str) -> Vec<String> {
        text.split_whitespace().map(|item| item.to_string()).collect()
    }

    #[test]
    fn each_shared_item_comes_once() {
        assert_eq!(super::shared(&of("c a b a"), &of("a x c")), ["c", "a"]);
    }

    #[test]
    fn nothing_is_shared() {
        assert!(super::shared(&of("a"), &of("")).is_empty());
    }
}
