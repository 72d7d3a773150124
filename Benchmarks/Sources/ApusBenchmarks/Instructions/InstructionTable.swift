import Foundation

/// The instructions and allocations of an item of a part.
struct InstructionFigure: Codable, Hashable {
    /// The part.
    var part: String
    /// How many instructions an item takes.
    var instructions: Double
    /// How many allocations an item takes.
    var allocations: Double
}

/// The committed figures: what an item of each part may cost.
struct InstructionTable: Codable, Hashable {
    /// By how much a figure may exceed the table's.
    static let tolerance = 0.01
    /// By how much allocations may in any case: threads that wake up once more or less make a few, but none an item.
    static let allocationsTolerance = 0.05

    /// The versions of the compiler and of the libraries that the figures depend on, by name.
    var measuredWith: [String: String]
    /// The figures.
    var figures: [InstructionFigure]

    /// Reads a table.
    ///
    /// - Parameters:
    ///   - data: the bytes of the file.
    ///   - path: its path, for the error.
    /// - Throws: `BenchmarkFailure` with the place and the fault if it is no table.
    init(_ data: Data, path: String) throws(BenchmarkFailure) {
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw BenchmarkFailure(
                description: """
                    \(path) is no table of instructions: \(Self.explanation(of: error)). Correct it, or write a new \
                    one: \(Self.recording)
                    """)
        }
    }

    /// Makes a table of figures, in the precision that they have.
    init(measuredWith: [String: String], figures: [InstructionFigure]) {
        self.measuredWith = measuredWith
        self.figures = figures.map {
            InstructionFigure(
                part: $0.part, instructions: $0.instructions.rounded(),
                allocations: ($0.allocations * 1_000).rounded() / 1_000)
        }
    }

    /// The bytes of a file.
    var data: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }

    /// The command that writes a table.
    static let recording = "make bench BENCH_FLAGS='--record instructions'"

    private static func explanation(of error: any Error) -> String {
        let (context, missing): (DecodingError.Context, String?) =
            switch error as? DecodingError {
            case .keyNotFound(let key, let context): (context, key.stringValue)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
            }
        let place = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        if let missing { return "\(place.isEmpty ? "it" : place) has no \"\(missing)\"" }
        return (place.isEmpty ? "" : "\(place): ") + context.debugDescription.trimmingCharacters(in: ["."])
    }
}

extension InstructionTable {
    /// How figures differ from a table.
    struct Comparison {
        /// The costs above their limits, each in a sentence.
        var failures: [String] = []
        /// The costs below those of the table, each in a sentence.
        var gains: [String] = []
        /// The versions of the table that this run does not have.
        var otherVersions: [String] = []
    }

    /// The most allocations where so many are in the table, in thousandths.
    static func allocationsMaximum(_ known: InstructionFigure) -> Double {
        let most = known.allocations + max(known.allocations * tolerance, allocationsTolerance)
        return (most * 1_000).rounded() / 1_000
    }

    /// Compares figures of today with this table.
    func compare(_ today: InstructionTable) -> Comparison {
        var comparison = Comparison()
        for figure in today.figures {
            guard let known = figures.first(where: { $0.part == figure.part }) else {
                comparison.failures.append("\(figure.part) is not in the table.")
                continue
            }
            comparison.add(
                figure.part, "instructions", was: known.instructions, is: figure.instructions,
                by: known.instructions * Self.tolerance)
            comparison.add(
                figure.part, "allocations", was: known.allocations, is: figure.allocations,
                by: Self.allocationsMaximum(known) - known.allocations)
        }
        for known in figures where !today.figures.contains(where: { $0.part == known.part }) {
            comparison.failures.append("\(known.part) is in the table, and was not counted.")
        }
        for name in Set(measuredWith.keys).union(today.measuredWith.keys).sorted()
        where measuredWith[name] != today.measuredWith[name] {
            comparison.otherVersions.append(
                "\(name) \(today.measuredWith[name] ?? "none"), not \(measuredWith[name] ?? "none")")
        }
        return comparison
    }
}

extension InstructionTable.Comparison {
    /// Adds a figure that differs by more than it may.
    fileprivate mutating func add(_ part: String, _ what: String, was: Double, is now: Double, by tolerance: Double) {
        let text = "\(part): \(Self.number(now)) \(what) an item, was \(Self.number(was))"
        if now - was > tolerance {
            failures.append("\(text) (\(Self.percent(was, now))).")
        } else if was - now > tolerance {
            gains.append("\(text) (\(Self.percent(was, now))).")
        }
    }

    private static func number(_ value: Double) -> String { String(format: value < 100 ? "%.3f" : "%.0f", value) }

    private static func percent(_ was: Double, _ now: Double) -> String {
        was > 0 ? String(format: "%+.1f %%", (now / was - 1) * 100) : "new"
    }

    /// The message about a comparison; nil if there is nothing to tell.
    var message: String? {
        var lines: [String] = []
        if !failures.isEmpty {
            lines.append("What follows costs over 1 % more than Benchmarks/instructions.json says:")
            lines += failures.map { "  \($0)" }
            lines.append(
                "Make it cheaper. If the cost is right, run \(InstructionTable.recording), and commit the table with "
                    + "the change; give the reason in the message of that commit.")
        }
        if !gains.isEmpty {
            lines.append("What follows costs over 1 % less than the table says; record that, so that it stays:")
            lines += gains.map { "  \($0)" }
            lines.append("  \(InstructionTable.recording)")
        }
        if !lines.isEmpty, !otherVersions.isEmpty {
            lines.append(
                "The figures depend on the compiler and on libraries. The table is of others than are here: "
                    + otherVersions.joined(separator: "; ") + ".")
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}
