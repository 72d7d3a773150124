internal import UnicodeText

extension FieldValue {
    /// The value as a predicate holds it: text in NFC, and folded if its case does not count; whole numbers as
    /// integers.
    ///
    /// - Parameters:
    ///   - folding: how the value is going to be compared.
    ///   - listDepth: in how many lists it lies.
    /// - Returns: the value that stands for all that are written differently and mean the same.
    /// - Throws: `PredicateError` `.invalidValue` for infinity and NaN, `.tooLarge` if a limit is exceeded.
    func normalized(_ folding: TextFolding, listDepth: Int = 0) throws(PredicateError) -> FieldValue {
        switch self {
        case .string(let text): return .string(try Self.normalized(text, folding))
        case .reference(let recordName, let zoneName):
            return .reference(recordName: try Self.normalized(recordName), zoneName: try Self.normalized(zoneName))
        case .integer, .boolean, .date, .location: return self
        case .double(let number):
            guard number.isFinite, let value = FieldValue.of(number) else {
                throw PredicateError(.invalidValue, "\(number) is no number that a field can have")
            }
            return value
        case .bytes(let bytes):
            try Self.check(byteCount: bytes.count, "bytes")
            return self
        case .list(let members):
            guard listDepth < PredicateLimits.listDepthMaximum else {
                throw PredicateError(
                    .tooLarge, "more than \(PredicateLimits.listDepthMaximum) lists lie in each other")
            }
            try Self.check(memberCount: members.count)
            var normalized: [FieldValue] = []
            for member in members { normalized.append(try member.normalized(folding, listDepth: listDepth + 1)) }
            return .list(normalized)
        }
    }

    /// The one value that stands for all equal ones: numbers, dates and booleans become their number.
    ///
    /// Both values must be `normalized` with the same folding.
    var comparisonKey: FieldValue {
        if case .list(let members) = self { return .list(members.map(\.comparisonKey)) }
        return number ?? self
    }

    /// Whether text is in it, whose case could count or not.
    public var hasText: Bool {
        switch self {
        case .string: true
        case .list(let members): members.contains(where: \.hasText)
        case .integer, .double, .boolean, .date, .bytes, .reference, .location: false
        }
    }

    static func normalized(_ text: String, _ folding: TextFolding = .exact) throws(PredicateError) -> String {
        // A normal form can be longer than its source, but not that much: an oversized text is not normalized.
        try check(byteCount: text.utf8.count, "text")
        let form = (folding == .exact ? TextForm.canonical : .caseFolded).applied(to: text)
        try check(byteCount: form.utf8.count, "text")
        return form
    }

    static func check(memberCount: Int) throws(PredicateError) {
        guard memberCount <= PredicateLimits.membersMaximum else {
            throw PredicateError(
                .tooLarge, "there are \(memberCount) values; at most \(PredicateLimits.membersMaximum) can be listed")
        }
    }

    private static func check(byteCount: Int, _ what: String) throws(PredicateError) {
        guard byteCount <= PredicateLimits.textBytesMaximum else {
            throw PredicateError(
                .tooLarge,
                "the \(what) takes \(byteCount) bytes; at most \(PredicateLimits.textBytesMaximum) can be"
                    + " compared with")
        }
    }
}
