import Synchronization

/// Steps for tokens by the bytes with which they begin: which step is due for a token now.
///
/// The entry with the longest beginning counts. Several entries with the same beginning are steps, one after the other,
/// counted for each token separately; after the last step a token has none.
public final class PrefixSteps: Sendable {
    /// How many tokens can be in the middle of their steps at once; further ones stay at their first step.
    static let countedTokensMaximum = 1_000_000

    private struct Step {
        let times: Int?
        let index: Int
    }

    private let steps: [ArraySlice<UInt8>: [Step]]
    /// The lengths of all beginnings, longest first.
    private let lengths: [Int]
    private let requestCounts = Mutex<[ArraySlice<UInt8>: Int]>([:])

    /// Whether no token has a step.
    public var isEmpty: Bool { steps.isEmpty }

    /// Sorts steps by the beginnings of their tokens.
    ///
    /// - Parameter entries: for each step the beginning of its tokens, and for how many requests it lasts; nil means
    ///   for all that follow.
    public init(_ entries: [(beginning: [UInt8], times: Int?)]) {
        var steps: [ArraySlice<UInt8>: [Step]] = [:]
        for (index, entry) in entries.enumerated() {
            steps[ArraySlice(entry.beginning), default: []].append(Step(times: entry.times, index: index))
        }
        self.steps = steps
        lengths = Set(steps.keys.map(\.count)).sorted(by: >)
    }

    /// Takes the step that is due for a request to a token.
    ///
    /// - Returns: the number of the entry, or nil if there is none, or none left, for the token.
    public func next(for token: ArraySlice<UInt8>) -> Int? {
        for length in lengths where length <= token.count {
            if let steps = steps[token.prefix(length)] { return next(of: steps, token) }
        }
        return nil
    }

    private func next(of steps: [Step], _ token: ArraySlice<UInt8>) -> Int? {
        // A step that lasts for ever needs no counting, so it costs no lock.
        if let first = steps.first, first.times == nil { return first.index }
        var remaining = requestCounts.withLock { counts in
            let count = counts[token] ?? 0
            if count > 0 || counts.count < Self.countedTokensMaximum { counts[token] = count + 1 }
            return count
        }
        for step in steps {
            guard let times = step.times, remaining >= times else { return step.index }
            remaining -= times
        }
        return nil
    }
}

/// Files of JSON objects, one a line.
public enum ScriptLines {
    /// Reads each line that is not empty.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - name: the kind of file, for errors.
    ///   - read: reads a line; its error says why it is wrong.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public static func read(
        _ bytes: [UInt8], of name: String, _ read: ([UInt8]) throws(SimulatorError) -> Void
    ) throws(SimulatorError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) {
            do throws(SimulatorError) {
                try read(Array(line))
            } catch {
                throw SimulatorError(.scriptInvalid, "line \(index + 1) of the \(name): \(error.message)")
            }
        }
    }
}
