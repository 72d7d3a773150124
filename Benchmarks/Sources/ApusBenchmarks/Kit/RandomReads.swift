import Essentials

/// Reads from all over some memory, each of which waits for the one before: what memory takes just now.
final class RandomReads {
    /// A line of the processor's cache in words.
    private static let lineWords = 16
    private static let readsAtOnce = 50_000

    /// In the first word of each line the next one: a single ring through all of them.
    private let words: UnsafeMutablePointer<UInt32>
    private var line: UInt32 = 0

    /// Takes memory of this size.
    init(byteCount: Int) {
        let lineCount = byteCount / (Self.lineWords * MemoryLayout<UInt32>.stride)
        words = .allocate(capacity: lineCount * Self.lineWords)
        words.initialize(repeating: 0, count: lineCount * Self.lineWords)
        for line in 0..<lineCount { words[line * Self.lineWords] = UInt32(line) }
        // Sattolo's way of shuffling makes one ring.
        var random = SplitMix(seed: 7)
        for line in stride(from: lineCount - 1, to: 0, by: -1) {
            let other = Int.random(in: 0..<line, using: &random)
            let next = words[line * Self.lineWords]
            words[line * Self.lineWords] = words[other * Self.lineWords]
            words[other * Self.lineWords] = next
        }
    }

    deinit { words.deallocate() }

    /// Follows the ring from where it was left, and tells what a read took.
    func nanosecondsPerRead() -> Double {
        let start = MatchingRun.now()
        for _ in 0..<Self.readsAtOnce { line = words[Int(line) * Self.lineWords] }
        return (MatchingRun.now() - start) * 1_000 / Double(Self.readsAtOnce)
    }
}
