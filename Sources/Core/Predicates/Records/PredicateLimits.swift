/// How large a predicate may be: everything that a subscriber controls has a bound.
///
/// They hold for the normal form, so what repeats itself or cannot be true does not count.
public enum PredicateLimits {
    /// How many conjunctions a predicate may be a disjunction of.
    public static let conjunctionsMaximum = 64
    /// How many terms a conjunction may have.
    public static let termsMaximum = 16
    /// How many values `IN` may list, and how many members a list may have that a field is compared with.
    public static let membersMaximum = 64
    /// How many words a token search may look for.
    public static let wordsMaximum = 64
    /// The length of the path of a field, in bytes.
    public static let pathBytesMaximum = 256
    /// How many names the path of a field may have: `author.name` has two (AWS AppSync, "Enhanced subscription
    /// filtering").
    public static let pathNamesMaximum = 5
    /// The length of a text, of bytes and of the name of a record, in bytes.
    public static let textBytesMaximum = 1024
    /// How many lists may lie in each other in a value that a field is compared with.
    public static let listDepthMaximum = 3
    /// The length of the canonical form, in bytes.
    public static let canonicalBytesMaximum = 64 * 1024

    /// The length of a predicate as text or as JSON, in bytes.
    ///
    /// A longer predicate is refused before it is read.
    public static let writtenBytesMaximum = 64 * 1024
    /// How many conditions may be written, before what repeats itself is taken out: as many as the largest predicate in
    /// normal form has.
    public static let conditionsMaximum = conjunctionsMaximum * termsMaximum

    /// How many conjunctions may come up while a predicate is brought into normal form.
    static let intermediateConjunctionsMaximum = 1024
    /// How many steps the way to normal form may take (`NormalizationWork`): far more than any predicate of a person
    /// needs, and done in some milliseconds.
    public static let normalizationStepsMaximum = 16 * 1024
    /// How many terms a conjunction may come with before what repeats itself is taken out.
    static let intermediateTermsMaximum = 1024
}
