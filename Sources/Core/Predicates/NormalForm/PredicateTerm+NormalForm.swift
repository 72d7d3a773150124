import Essentials
internal import UnicodeText

extension PredicateTerm {
    /// Brings the path of a field into its form.
    ///
    /// - Parameter path: the path; empty for all fields.
    /// - Returns: the path in NFC.
    /// - Throws: `PredicateError` `.invalidPath` or `.tooLarge`.
    static func normalizedPath(_ path: String) throws(PredicateError) -> String {
        guard path.utf8.count <= PredicateLimits.pathBytesMaximum else { throw pathTooLong(path.utf8.count) }
        let path = TextForm.canonical.applied(to: path)
        guard path.utf8.count <= PredicateLimits.pathBytesMaximum else { throw pathTooLong(path.utf8.count) }
        guard !path.isEmpty else { return path }
        guard !path.utf8.contains(0) else {
            throw PredicateError(.invalidPath, "the name of a field must not have a NUL in it")
        }
        let names = path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw PredicateError(
                .invalidPath,
                "\(path.excerpt) is no path of a field; it must be names with periods between, such as author.name"
            )
        }
        guard names.count <= PredicateLimits.pathNamesMaximum else {
            throw PredicateError(
                .tooLarge,
                "\(path.excerpt) has \(names.count) names; at most \(PredicateLimits.pathNamesMaximum) are accepted"
            )
        }
        return path
    }

    private static func pathTooLong(_ byteCount: Int) -> PredicateError {
        PredicateError(
            .tooLarge,
            "the path of a field takes \(byteCount) bytes; at most \(PredicateLimits.pathBytesMaximum) are accepted")
    }
}
