import Essentials
public import RegistryCore

/// The dead letters that a command is about: named one by one, or by a filter.
public struct DeadLetterSelection: Hashable, Sendable {
    /// How many letters are read from the store at once.
    private static let pageCount = 200
    /// The shortest prefix of an identifier that selects a letter by default.
    public static let prefixCountMinimum = 4

    /// Identifiers, or beginnings of them that fit one letter only; empty if the filter says which letters.
    public var identifiers: [String]
    /// Which letters, if none is named.
    public var filter: DeadLetterFilter
    /// At most so many, if none is named; nil for all.
    public var limit: Int?
    /// The shortest beginning of an identifier that names a letter.
    public var prefixCountMinimum = Self.prefixCountMinimum

    /// Creates a selection.
    public init(identifiers: [String] = [], filter: DeadLetterFilter = DeadLetterFilter(), limit: Int? = nil) {
        self.identifiers = identifiers
        self.filter = filter
        self.limit = limit
    }

    /// Reads the letters page by page, the oldest first.
    ///
    /// - Parameters:
    ///   - registry: where they are.
    ///   - last: the number of the letter to begin after; 0 for the oldest.
    ///   - body: takes a page, and says whether to go on.
    /// - Throws: `RegistryError`, `.notFound` if an identifier names no letter or several, or what `body` throws.
    public func forEachPage(
        in registry: any DeadLetterRegistry, after last: Int64 = 0,
        _ body: ([DeadLetterSummary]) throws -> Bool
    ) throws {
        guard identifiers.isEmpty else {
            var named: Set<Int64> = []
            let letters = try identifiers.map {
                try Self.letter(named: $0, in: registry, prefixCountMinimum: prefixCountMinimum)
            }
            _ = try body(letters.filter { named.insert($0.number).inserted })
            return
        }
        var remaining = limit ?? .max
        var last = last
        while remaining > 0 {
            let page = try registry.deadLetters(
                matching: filter, after: last, limit: min(remaining, Self.pageCount))
            guard let end = page.last, try body(page) else { return }
            last = end.number
            remaining -= page.count
        }
    }

    /// The one letter that an identifier, or its prefix, selects.
    ///
    /// - Parameters:
    ///   - name: the identifier, or its beginning.
    ///   - registry: where the letter is.
    ///   - prefixCountMinimum: the shortest beginning that is taken.
    /// - Returns: the letter.
    /// - Throws: `RegistryError`, `.notFound` if it names no letter or several.
    public static func letter(
        named name: String, in registry: any DeadLetterRegistry, prefixCountMinimum: Int = Self.prefixCountMinimum
    ) throws(RegistryError) -> DeadLetterSummary {
        let prefix = name.lowercased()
        let shown = "\"\(name.shortened(bytesMaximum: 80).printable())\""
        guard prefix.utf8.count >= prefixCountMinimum,
            prefix.utf8.allSatisfy({ HexadecimalDigits.value(of: $0) != nil })
        else {
            throw RegistryError(
                .notFound,
                "\(shown) names no dead letter: expected \(prefixCountMinimum) to 32 hexadecimal digits, as 'apus "
                    + "dead-letters list' shows them.")
        }
        var filter = DeadLetterFilter()
        filter.identifierPrefix = prefix
        let found = try registry.deadLetters(matching: filter, after: 0, limit: 2)
        guard let letter = found.first else {
            throw RegistryError(
                .notFound, "There is no dead letter \(shown). 'apus dead-letters list' shows all of them.")
        }
        guard found.count == 1 else {
            throw RegistryError(
                .notFound,
                "Several dead letters begin with \(shown), among them \(found[0].identifier) and "
                    + "\(found[1].identifier): give more digits.")
        }
        return letter
    }
}
