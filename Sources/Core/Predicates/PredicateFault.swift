import Essentials
internal import JSON

/// Makes the errors of predicates that are written in JSON: each names the path of a member.
enum PredicateFault {
    /// Something that is there and should be something else.
    static func mismatch(
        _ path: String, _ found: JSONValue, _ expected: String, code: PredicateError.Code = .invalidSyntax
    ) -> PredicateError {
        PredicateError(code, at: .member(path), "found \(found.kindDescription); expected \(expected)")
    }

    static func mismatch(_ mismatch: ValueMismatch, under path: String) -> PredicateError {
        PredicateError(
            .invalidValue, at: .member(path + mismatch.path), "found \(mismatch.found); expected \(mismatch.expected)")
    }

    static func missing(_ path: String, _ expected: String) -> PredicateError {
        PredicateError(.invalidSyntax, at: .member(path), "it is missing; expected \(expected)")
    }

    /// Refuses an object that has a member of another name, or one of these twice: what it says would be lost.
    static func allow(
        _ names: [StaticString], in object: JSONObject, _ path: String
    ) throws(PredicateError) {
        if let name = object.firstMember(notAmong: names)?.key {
            let expected = names.map { "\($0)" }.joined(separator: ", ")
            throw PredicateError(
                .invalidSyntax, at: .member(path), "found the unknown member \(name.excerpt); expected \(expected)")
        }
        for name in names where object.hasSeveral(name) {
            throw PredicateError(.invalidSyntax, at: .member(path), "it has the member \(name) twice")
        }
    }

    /// Runs something whose errors have no place yet.
    static func locating<Result>(
        _ path: String, _ body: () throws(PredicateError) -> Result
    ) throws(PredicateError) -> Result {
        do {
            return try body()
        } catch {
            throw error.located(at: .member(path))
        }
    }

    /// Checks how much is written, before any of it is read.
    static func checkWritten(byteCount: Int) throws(PredicateError) {
        guard byteCount <= PredicateLimits.writtenBytesMaximum else {
            throw PredicateError(
                .tooLarge,
                "the predicate is longer than \(PredicateLimits.writtenBytesMaximum) bytes, the most that is accepted")
        }
    }

    /// Checks how much is written as JSON, before any of it is read.
    static func checkWritten(_ value: JSONValue, at path: String) throws(PredicateError) {
        guard value.isWritten(withinBytes: PredicateLimits.writtenBytesMaximum) else {
            throw PredicateError(
                .tooLarge, at: .member(path),
                "it is longer than \(PredicateLimits.writtenBytesMaximum) bytes, the most that is accepted")
        }
    }

    /// The path of a field, in its form.
    static func fieldPath(_ value: JSONValue, at path: String) throws(PredicateError) -> String {
        guard let text = value.string, !text.isEmpty else { throw mismatch(path, value, "the name of a field") }
        return try locating(path) { () throws(PredicateError) in try PredicateTerm.normalizedPath(text) }
    }
}
