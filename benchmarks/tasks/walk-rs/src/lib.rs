// SPDX-License-Identifier: Apache-2.0

/// Where a walk of so many steps ends that goes from each place to the one that it names.
pub fn walk(next: &[u32], start: u32, steps: usize) -> u32 {
    let mut place = start;
    for _ in 0..steps {
        place = next[place as usize];
    }
    place
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_place_names_the_next() {
        assert_eq!(super::walk(&[2, 0, 1], 0, 2), 1);
    }

    #[test]
    fn no_steps() {
        assert_eq!(super::walk(&[0], 0, 0), 0);
    }
}
