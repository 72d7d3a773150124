import Essentials

/// Rows of text whose columns stand below each other, two blanks apart.
enum TextTable {
    /// Lays out rows.
    ///
    /// Cells are made printable, because the width of what is not cannot be told.
    ///
    /// - Parameters:
    ///   - rows: the header, if there is one, and the other rows.
    ///   - leftColumns: the columns that begin at their left edge; the others, numbers, end at their right one.
    /// - Returns: a line for each row, without blanks at its end.
    static func lines(_ rows: [[String]], leftColumns: Set<Int>) -> [String] {
        let rows = rows.map { $0.map { $0.printable() } }
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += (column > 0 ? "  " : "") + (leftColumns.contains(column) ? cell + blanks : blanks + cell)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
