import Essentials

/// Output for people, or for programs where `--json` is given.
extension CommandInvocation {
    /// Prints one thing: a line of JSON for programs, or lines for people.
    func show(json: @autoclosure () -> [UInt8], lines: @autoclosure () -> [String]) {
        if isJSON { output.line(json()) } else { for line in lines() { output.line(line) } }
    }

    /// Prints one thing: a line of JSON for programs, or a line for people.
    func show(_ report: @autoclosure () -> Report, _ line: @autoclosure () -> String) {
        show(json: report().json, lines: [line()])
    }

    /// Prints a row of a list: a line of JSON for programs, or the cells of columns for people, separated by tabs.
    func show(_ report: @autoclosure () -> Report, columns: @autoclosure () -> [String]) {
        show(json: report().json, lines: [Self.row(columns())])
    }

    /// Prints the names of columns, which programs do not need.
    func showHeader(_ columns: [String]) {
        if !isJSON { output.line(Self.row(columns)) }
    }

    /// A line of cells, separated by tabs.
    static func row(_ cells: [String]) -> String { cells.map { $0.printable() }.joined(separator: "\t") }

    /// Says how many of the operands were removed, and which were not there.
    ///
    /// - Parameter missing: those that were not there.
    /// - Returns: how the command ends.
    func showRemoval(missing: [String]) -> ExitCode {
        let removed = operands.count - missing.count
        for name in missing { StandardError.line("not found: \(name)") }
        show(["removed": removed, "notFound": missing], "removed \(removed)")
        return missing.isEmpty ? .ok : .data
    }

    /// Reads a list page by page until it ends, enough is read, or the output can no longer be written.
    ///
    /// - Parameters:
    ///   - limit: the most items to read.
    ///   - read: reads a page: at most so many items after the last one, or from the start.
    ///   - body: takes a page.
    /// - Throws: the errors of `read` and `body`.
    func forEachPage<Item>(
        limit: Int = .max, _ read: (_ last: Item?, _ limit: Int) throws -> [Item], _ body: ([Item]) throws -> Void
    ) throws {
        var remaining = limit
        var last: Item?
        while remaining > 0, !output.isBroken {
            let page = try read(last, min(remaining, 1_000))
            guard let end = page.last else { return }
            try body(page)
            last = end
            remaining -= page.count
        }
    }
}
