/// Finds keys that occur twice in one object.
///
/// Readers differ in which of two equal members they take, so such a document means one thing here and another thing
/// there (RFC 8259 section 4, RFC 7493 section 2.3). Keys are compared by their bytes, after their escapes were read.
extension JSONTape {
    /// Objects with more members are sorted: comparing each key with all before it would take too long.
    private static let comparedMaximum = 48

    /// The bytes of a key that occurs twice in one of the document's objects; nil if none does.
    ///
    /// It is on the way of every event: it allocates nothing for objects of at most `comparedMaximum` members, and
    /// compares few keys, because most differ already in a mask of 64 bits.
    func repeatedKey() -> UnsafeBufferPointer<UInt8>? {
        let end = indexAfter(1)
        var index: UInt32 = 1
        while index < end {
            switch type(index) {
            case WordType.object:
                if let key = repeatedKey(ofObjectAt: index) { return key }
                index += 1
            case WordType.signed, WordType.unsigned, WordType.double: index += 2
            default: index += 1
            }
        }
        return nil
    }

    private func repeatedKey(ofObjectAt start: UInt32) -> UnsafeBufferPointer<UInt8>? {
        let end = indexAfter(start) - 1
        var seen: UInt64 = 0
        var count = 0
        var index = start + 1
        while index < end {
            let key = string(index)
            let bit: UInt64 = 1 << UInt64(Self.digest(key))
            if seen & bit != 0, isKey(key, from: start + 1, to: index) { return key }
            seen |= bit
            count += 1
            guard count < Self.comparedMaximum else { return repeatedKeyBySorting(from: start + 1, to: end) }
            index = indexAfter(index + 1)
        }
        return nil
    }

    private func isKey(_ key: UnsafeBufferPointer<UInt8>, from start: UInt32, to end: UInt32) -> Bool {
        var index = start
        while index < end {
            if string(index).elementsEqual(key) { return true }
            index = indexAfter(index + 1)
        }
        return false
    }

    private func repeatedKeyBySorting(from start: UInt32, to end: UInt32) -> UnsafeBufferPointer<UInt8>? {
        var keys: [UInt32] = []
        var index = start
        while index < end {
            keys.append(index)
            index = indexAfter(index + 1)
        }
        keys.sort { left, right in
            let (left, right) = (string(left), string(right))
            // Lengths differ more often than bytes, and any order does.
            return left.count != right.count ? left.count < right.count : left.lexicographicallyPrecedes(right)
        }
        let pair = zip(keys, keys.dropFirst()).first { string($0).elementsEqual(string($1)) }
        return pair.map { string($0.0) }
    }

    /// A number of 0 to 63 that differs for most keys of one object.
    private static func digest(_ key: UnsafeBufferPointer<UInt8>) -> UInt8 {
        guard let first = key.first, let last = key.last else { return 0 }
        let middle = key[key.count / 2]
        return (first &* 7 ^ last &* 11 ^ middle &* 23 ^ UInt8(truncatingIfNeeded: key.count) &* 37) & 63
    }
}
