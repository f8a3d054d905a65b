// SPDX-License-Identifier: Apache-2.0

/// Adds to each cell of a grid, row by row of `width` cells, what lies above it. Overflow wraps.
pub fn settle(grid: &mut [u32], width: usize) {
    if width == 0 {
        return;
    }
    let height = grid.len() / width;
    for column in 0..width {
        for row in 1..height {
            let above = grid[(row - 1) * width + column];
            let cell = &mut grid[row * width + column];
            *cell = cell.wrapping_add(above);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_lies_above_is_added() {
        let mut grid = [1, 2, 3, 4, 5, u32::MAX];
        super::settle(&mut grid, 2);
        assert_eq!(grid, [1, 2, 4, 6, 9, 5]);
    }

    #[test]
    fn a_row_stays() {
        let mut grid = [1, 2];
        super::settle(&mut grid, 2);
        super::settle(&mut grid, 0);
        assert_eq!(grid, [1, 2]);
    }
}
