// SPDX-License-Identifier: Apache-2.0

/// The tags in the order in which they come first.
pub fn distinct(all: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for tag in all {
        if !found.contains(tag) {
            found.push(tag.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn order_is_kept() {
        let all: Vec<String> = ["a", "b", "a", "c", "b"].iter().map(|tag| tag.to_string()).collect();
        assert_eq!(super::distinct(&all), ["a", "b", "c"]);
    }
}
