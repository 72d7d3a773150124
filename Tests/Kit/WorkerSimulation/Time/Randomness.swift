import Essentials

/// The random numbers of one model, which follow from the seed of the run and the name of the model.
///
/// Each model has its own, so a change of one does not shift the numbers of the others.
struct Randomness {
    private var generator: SplitMix

    init(seed: UInt64, model: StaticString) {
        var mixed = seed
        for byte in UnsafeBufferPointer(start: model.utf8Start, count: model.utf8CodeUnitCount) {
            mixed = (mixed ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        generator = SplitMix(seed: mixed)
        _ = generator.next()
    }

    mutating func next() -> UInt64 { generator.next() }

    /// A number from 0 up to, and without, a bound; 0 if the bound is not more than 0.
    mutating func below(_ bound: Int) -> Int {
        guard bound > 0 else { return 0 }
        return Int(truncatingIfNeeded: generator.next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number of a closed range.
    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    /// Whether something happens that happens so many times of a million.
    mutating func happens(perMillion: Int) -> Bool { perMillion > 0 && below(1_000_000) < perMillion }

    /// A time of a closed range of microseconds, in nanoseconds.
    mutating func nanoseconds(microseconds range: ClosedRange<Int>) -> UInt64 { UInt64(within(range)) * 1_000 }

    /// A time of a closed range of milliseconds, in nanoseconds.
    mutating func nanoseconds(milliseconds range: ClosedRange<Int>) -> UInt64 {
        UInt64(within(range)) * 1_000_000 + UInt64(below(1_000)) * 1_000
    }

    /// Brings a list into any order.
    mutating func shuffle<Element>(_ list: inout [Element]) {
        for last in stride(from: list.count - 1, to: 0, by: -1) { list.swapAt(last, below(last + 1)) }
    }
}

/// A number that tells two runs apart: it follows from everything that was mixed into it, in order.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func mix(_ number: UInt64) {
        value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 29
    }

    mutating func mix(_ number: Int) { mix(UInt64(bitPattern: Int64(number))) }
}
