extension String {
    /// Whether another text has the same bytes of UTF-8.
    ///
    /// Swift's `==` takes texts for equal that have other bytes, for example "é" as one scalar and as two. Databases do
    /// not, nor do clients; so what names something is compared with this.
    ///
    /// - Parameter other: the other text; nil has other bytes than any text.
    /// - Returns: whether they are the same.
    public func hasBytes(of other: String?) -> Bool {
        guard let other, utf8.count == other.utf8.count else { return false }
        return readingUTF8 { bytes in other.readingUTF8 { bytes.elementsEqual($0) } }
    }
}

extension String? {
    /// Whether another text has the same bytes of UTF-8, or both are nil.
    public func hasBytes(of other: String?) -> Bool {
        guard let self else { return other == nil }
        return self.hasBytes(of: other)
    }
}
