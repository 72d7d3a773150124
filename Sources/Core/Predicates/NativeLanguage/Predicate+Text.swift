extension Predicate: CustomStringConvertible, LosslessStringConvertible {
    /// Reads a predicate from its text: CKQuery's part of NSPredicate's format, and some more.
    ///
    ///     artist = "Mei Chen" AND price <= 20
    ///     (genre IN {"jazz", "soul"} OR tags CONTAINS "live") AND NOT title BEGINSWITH "Demo"
    ///     distanceToLocation:fromLocation:(place, {52.52, 13.405}) < 5000
    ///     self CONTAINS "bob smith"
    ///
    /// | written | holds where |
    /// |---|---|
    /// | `field = value`, `==` | they are equal; the case of texts does not count |
    /// | `field =[n] value` | they are equal, byte by byte |
    /// | `field != value`, `<>`, `!=[n]` | they are not, or the field is missing |
    /// | `<` `<=` `=<` `>` `>=` `=>` | numbers, dates and texts (by their bytes) are in that order |
    /// | `field BETWEEN {1, 5}` | the value lies between, ends included |
    /// | `field IN {1, 2}`, `IN[c]` | it equals one of them; the case of texts counts, with `[c]` it does not |
    /// | `field BEGINSWITH "text"` | the text begins so; case counts |
    /// | `field CONTAINSTEXT "text"` | the text has that somewhere; case counts |
    /// | `field CONTAINS value`, `value IN field`, `CONTAINS[c]` | the list has that member |
    /// | `ANY field = value`, `SOME …` | the same, but the case of texts does not count |
    /// | `ANY field IN {1, 2}`, `IN[c]` | the list has one of those |
    /// | `ANY field BEGINSWITH "text"` | the list has a text that begins so |
    /// | `self CONTAINS "bob smith"` | some field has one of the words, without regard to case and diacritics |
    /// | `field TOKENMATCHES "bob smith"` | that field has |
    /// | `distanceToLocation:fromLocation:(field, {52.5, 13.4}) < 800` | the place is nearer than so many metres |
    /// | `TRUEPREDICATE`, `FALSEPREDICATE` | always, never |
    /// | `AND` `&&`, `OR` `||`, `NOT` `!`, parentheses | as usual: NOT binds first, then AND, then OR |
    ///
    /// Values are texts in double or single quotes (`\"` `\n` `\u{e9}`), numbers, `TRUE` `YES` `FALSE` `NO`, lists
    /// `{1, 2}`, `date("2026-01-31T12:00:00Z")` or `CAST("2026-01-31T12:00:00Z", "NSDate")`,
    /// `date(1769860800000)` in milliseconds since 1970, `reference("recordName")`,
    /// `reference("recordName", "zoneName")`, `bytes("base64")` and `location(latitude, longitude)`. A path
    /// that is no plain name, or is a word of the language, stands in backquotes: `` `order` ``. Words of the language
    /// may be written in lower case.
    ///
    /// `NOT` is exact: it holds for every record that fails the condition, also for one without the field.
    ///
    /// - Parameter text: the text.
    /// - Throws: `PredicateError` with line and column, the found text and the expected one.
    public init(parsing text: String) throws(PredicateError) {
        try PredicateFault.checkWritten(byteCount: text.utf8.count)
        var parser = PredicateParser(text)
        self = try parser.parse()
    }

    /// Reads a predicate from its text; nil if it is none.
    public init?(_ description: String) {
        guard let predicate = try? Predicate(parsing: description) else { return nil }
        self = predicate
    }

    /// The text, which reads back as the same predicate.
    public var description: String { PredicatePrinter.text(of: self) }
}

extension PredicateTerm: CustomStringConvertible {
    /// The text of the term alone; that of a term in normal form is a predicate.
    public var description: String { PredicatePrinter.text(of: self) }
}

extension FieldValue: CustomStringConvertible {
    /// The value as a predicate has it.
    public var description: String { PredicatePrinter.text(of: self) }
}
