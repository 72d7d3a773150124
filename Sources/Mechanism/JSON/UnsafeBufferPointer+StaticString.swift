extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are those of a literal, which needs no `String` for the comparison.
    @inlinable
    func isEqual(to text: StaticString) -> Bool {
        guard text.hasPointerRepresentation else { return false }
        guard count == text.utf8CodeUnitCount else { return false }
        let start = text.utf8Start
        for position in 0..<count where self[position] != start[position] { return false }
        return true
    }
}
