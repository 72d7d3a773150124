/// Reads the members of one object, and says which of them is wrong, by its path.
struct MemberReader {
    let members: [String: PayloadValue]
    /// Where the object stands, for example `ck.qry`; empty for the payload itself.
    let path: String

    /// The value of a member that has to be there.
    ///
    /// - Parameters:
    ///   - name: the member.
    ///   - expected: the expected value, in words.
    ///   - read: turns the value into what is wanted; nil if it is not what is expected.
    /// - Returns: the value.
    /// - Throws: `PayloadError` if it is missing or wrong.
    func required<Value>(
        _ name: String, _ expected: String, _ read: (PayloadValue) -> Value?
    ) throws(PayloadError) -> Value {
        guard let found = members[name] else {
            throw PayloadError(.memberMissing, PayloadProblem(place(name), "missing, expected \(expected)"))
        }
        return try checked(found, name, expected, read)
    }

    /// The value of a member that may be missing or null, but may not be wrong.
    func value<Value>(
        _ name: String, _ expected: String, _ read: (PayloadValue) -> Value?
    ) throws(PayloadError) -> Value? {
        guard let found = members[name], found != .null else { return nil }
        return try checked(found, name, expected, read)
    }

    /// The value of a member that only adds to a push: a wrong one is left out and noted.
    func extra<Value>(
        _ name: String, _ expected: String, _ problems: inout FoundationReader, _ read: (PayloadValue) -> Value?
    ) -> Value? {
        guard let found = members[name], found != .null else { return nil }
        guard let value = read(found) else {
            problems.note(PayloadProblem(place(name), found: found, expected: expected))
            return nil
        }
        return value
    }

    /// A text that only adds to a push.
    func extraText(_ name: String, _ problems: inout FoundationReader) -> String? {
        extra(name, "a text", &problems, \.text)
    }

    /// A member that is an object; nil if it is missing or null.
    func object(_ name: String) throws(PayloadError) -> MemberReader? {
        try value(name, "an object", \.object).map { MemberReader(members: $0, path: place(name)) }
    }

    private func checked<Value>(
        _ found: PayloadValue, _ name: String, _ expected: String, _ read: (PayloadValue) -> Value?
    ) throws(PayloadError) -> Value {
        guard let value = read(found) else {
            throw PayloadError(.memberInvalid, PayloadProblem(place(name), found: found, expected: expected))
        }
        return value
    }

    private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
