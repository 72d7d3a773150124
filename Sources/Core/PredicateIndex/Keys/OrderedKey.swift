import Predicates

/// A number or a text as 64 bits in the same order, though some that differ become the same.
enum OrderedKey {
    /// The bits of a value, and whether they are of a number or of a text; nil for a value without an order.
    static func of(_ value: FieldValue) -> (kind: KeyKind, bits: UInt64)? {
        if case .string(let text) = value {
            var text = text
            return (.text, text.withUTF8 { bits(ofText: UnsafeRawBufferPointer($0)) })
        }
        switch value.number {
        case .integer(let number): return (.number, bits(of: Double(number)))
        case .double(let number): return number.isNaN ? nil : (.number, bits(of: number))
        default: return nil
        }
    }

    /// The bits of a number; a whole number comes as the double that is nearest.
    static func bits(of number: Double) -> UInt64 {
        // Zero and negative zero are the same.
        let bits = (number + 0).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// The first eight bytes of a text.
    static func bits(ofText bytes: UnsafeRawBufferPointer) -> UInt64 {
        var bits: UInt64 = 0
        for index in 0..<min(8, bytes.count) { bits |= UInt64(bytes[index]) << UInt64(56 - 8 * index) }
        return bits
    }

    /// The finest level at which few intervals cover a range, and these intervals.
    ///
    /// An interval of level n holds 2^n neighbours.
    static func cover(_ bounds: ClosedRange<UInt64>, countMaximum: UInt64) -> (level: Int, cells: ClosedRange<UInt64>) {
        var level = 0
        while level < 63, bounds.upperBound >> level - bounds.lowerBound >> level >= countMaximum { level += 1 }
        return (level, bounds.lowerBound >> level...bounds.upperBound >> level)
    }
}
