import Essentials

/// Random numbers that a seed repeats, so that a failing random test can be run again from its message.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var numbers: SplitMix

    /// Creates a generator.
    ///
    /// - Parameter seed: the seed, which a failing test prints.
    public init(seed: UInt64) { numbers = SplitMix(seed: seed) }

    /// The next number.
    public mutating func next() -> UInt64 { numbers.next() }
}
