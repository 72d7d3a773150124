extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are those of the text.
    func matches(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
