import Predicates

/// Compares and searches texts by their bytes.
enum TextSearch {
    /// An odd number that spreads bytes over a word.
    private static let base: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// How two texts lie to each other.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> ValueOrder {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index] ? .before : .after
        }
        return left.count < right.count ? .before : left.count == right.count ? .same : .after
    }

    /// Whether a part occurs in a text, in a time that grows with the sum of their lengths (Karp and Rabin, 1987).
    static func occurs(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= text.count else { return false }
        var wanted: UInt64 = 0
        var window: UInt64 = 0
        var leaving: UInt64 = 1
        for index in 0..<part.count {
            wanted = wanted &* base &+ UInt64(part[index])
            window = window &* base &+ UInt64(text[index])
            leaving = leaving &* base
        }
        var start = 0
        while true {
            if window == wanted, text[start..<start + part.count].elementsEqual(part) { return true }
            guard start + part.count < text.count else { return false }
            window = window &* base &+ UInt64(text[start + part.count]) &- leaving &* UInt64(text[start])
            start += 1
        }
    }
}
