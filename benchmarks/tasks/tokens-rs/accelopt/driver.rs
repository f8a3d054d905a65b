// SPDX-License-Identifier: Apache-2.0
// Calls the function on every case, a line each; writes what it gave.
use std::io::Write;

fn main() {
    let names: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&names[1]).unwrap();
    let mut out = std::io::BufWriter::new(std::fs::File::create(&names[2]).unwrap());
    for line in text.lines() {
        let all: Vec<String> = line.split_whitespace().map(|token| token.to_string()).collect();
        writeln!(out, "{:?}", tokens::groups(&all)).unwrap();
    }
}
