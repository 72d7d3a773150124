import Hashing

extension RangeReplaceableCollection<UInt32> {
    /// Appends a word of 64 bits, its lower half first.
    mutating func append(word: UInt64) {
        append(UInt32(truncatingIfNeeded: word))
        append(UInt32(truncatingIfNeeded: word >> 32))
    }

    /// Appends a digest.
    mutating func append(_ digest: WordDigest) {
        append(word: digest.high)
        append(word: digest.low)
    }

    /// Appends a count of bytes, and the bytes.
    mutating func append(text: String) {
        append(UInt32(text.utf8.count))
        var word: UInt32 = 0
        var shift: UInt32 = 0
        for byte in text.utf8 {
            word |= UInt32(byte) << shift
            shift += 8
            if shift == 32 {
                append(word)
                word = 0
                shift = 0
            }
        }
        if shift > 0 { append(word) }
    }
}
