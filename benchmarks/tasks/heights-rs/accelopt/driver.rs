// SPDX-License-Identifier: Apache-2.0
// A case is a line: width, height, a seed, repetitions. Fills a grid by it, and writes a digest of what it became.
use std::io::Write;

fn main() {
    let names: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&names[1]).unwrap();
    let mut out = std::io::BufWriter::new(std::fs::File::create(&names[2]).unwrap());
    for line in text.lines() {
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let mut state = numbers[2] as u32;
        let mut grid: Vec<u32> = Vec::new();
        for _ in 0..numbers[0] * numbers[1] {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            grid.push(state >> 8);
        }
        for _ in 0..numbers[3] {
            heights::settle(&mut grid, numbers[0]);
        }
        let digest = grid.iter().fold(14695981039346656037u64, |sum, cell| (sum ^ u64::from(*cell)).wrapping_mul(1099511628211));
        writeln!(out, "{digest:x} {}", grid.len()).unwrap();
    }
}
