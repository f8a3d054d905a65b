// SPDX-License-Identifier: Apache-2.0
// A case is a line: a number of places, a seed, steps. Makes one ring of all places by it, and writes where walks end.
use std::io::Write;

fn main() {
    let names: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&names[1]).unwrap();
    let mut out = std::io::BufWriter::new(std::fs::File::create(&names[2]).unwrap());
    for line in text.lines() {
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let count = numbers[0];
        let mut state = numbers[1] as u64;
        let mut next: Vec<u32> = (0..count as u32).collect();
        for last in (1..count).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            next.swap(last, (state >> 33) as usize % last);
        }
        if count > 0 {
            writeln!(out, "{}", walk::walk(&next, (count / 2) as u32, numbers[2])).unwrap();
        }
    }
}
