/// Members, objects and arrays in one call each.
///
///     let json = JSONWriter.object { writer in
///         writer.member("name", name)
///         writer.array("tags", texts: tags)
///     }
extension JSONWriter {
    /// Makes a document that is an object.
    ///
    /// - Parameters:
    ///   - capacityBytes: for how much text to have room from the start.
    ///   - members: writes the members.
    /// - Returns: the text.
    /// - Throws: the error of `members`.
    @inlinable
    public static func object<Failure: Error>(
        capacityBytes: Int = 256, _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var writer = JSONWriter(capacityBytes: capacityBytes)
        try writer.object(members)
        return writer.bytes
    }

    // MARK: Members

    /// Writes a member that is a string; nothing for nil.
    @inlinable
    public mutating func member(_ key: StaticString, _ value: String?) {
        guard let value else { return }
        self.key(key)
        string(value)
    }

    /// Writes a member that is an integer; nothing for nil.
    @inlinable
    public mutating func member<Number: FixedWidthInteger>(_ key: StaticString, _ value: Number?) {
        guard let value else { return }
        self.key(key)
        integer(value)
    }

    /// Writes a member that is a number, `null` for infinity and NaN; nothing for nil.
    @inlinable
    public mutating func member(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        double(value)
    }

    /// Writes a member that is `true` or `false`; nothing for nil.
    @inlinable
    public mutating func member(_ key: StaticString, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        boolean(value)
    }

    /// Writes a member whose key is known at run time only.
    @inlinable
    public mutating func member(dynamic key: String, _ value: String) {
        self.key(dynamic: key)
        string(value)
    }

    /// Writes a member whose key is known at run time only.
    @inlinable
    public mutating func member(dynamic key: String, _ value: some FixedWidthInteger) {
        self.key(dynamic: key)
        integer(value)
    }

    // MARK: Objects and arrays

    /// Writes an object: the root, or an element of an array.
    ///
    /// - Parameter members: writes the members.
    /// - Throws: the error of `members`.
    @inlinable
    public mutating func object<Failure: Error>(
        _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        try members(&self)
        endObject()
    }

    /// Writes a member that is an object.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - members: writes the members.
    /// - Throws: the error of `members`.
    @inlinable
    public mutating func object<Failure: Error>(
        _ key: StaticString, _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try object(members)
    }

    /// Writes an array: the root, or an element of another one.
    ///
    /// - Parameter elements: writes the elements.
    /// - Throws: the error of `elements`.
    @inlinable
    public mutating func array<Failure: Error>(
        _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginArray()
        try elements(&self)
        endArray()
    }

    /// Writes a member that is an array.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - elements: writes the elements.
    /// - Throws: the error of `elements`.
    @inlinable
    public mutating func array<Failure: Error>(
        _ key: StaticString, _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try array(elements)
    }

    /// Writes a member that is an array of objects.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - elements: the elements.
    ///   - members: writes the members of an element.
    /// - Throws: the error of `members`.
    @inlinable
    public mutating func array<Element, Failure: Error>(
        _ key: StaticString, _ elements: some Sequence<Element>,
        _ members: (inout JSONWriter, Element) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        beginArray()
        for element in elements {
            beginObject()
            try members(&self, element)
            endObject()
        }
        endArray()
    }

    /// Writes a member that is an array of strings.
    @inlinable
    public mutating func array(_ key: StaticString, texts: some Sequence<String>) {
        self.key(key)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }
}
