import Essentials

/// Rows of text whose columns stand below each other, two blanks apart.
///
/// Cells are made printable, because the width of what is not cannot be told. Empty headers go with the column before
/// them.
struct TextTable {
    private var rows: [[String]]
    private let leftColumns: Set<Int>

    /// Begins a table.
    ///
    /// - Parameters:
    ///   - header: the first row.
    ///   - leftColumns: the columns that begin at their left edge; the others, numbers, end at their right one.
    init(_ header: [String], leftColumns: Set<Int>) {
        rows = [header]
        self.leftColumns = leftColumns
    }

    /// Adds a row; cells beyond the header's are left out.
    mutating func add(_ cells: [String]) { rows.append(cells.prefix(rows[0].count).map { $0.printable() }) }

    /// The rows, the header first, without blanks at their ends.
    var lines: [String] {
        let widths = rows[0].indices.map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
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
