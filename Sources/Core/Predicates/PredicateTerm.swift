/// One test of one field, or its opposite.
///
/// The opposite is exact: whatever fails the test, a missing field too, passes its negation.
public struct PredicateTerm: Hashable, Sendable {
    /// The path of the field, in NFC (`author.name`); empty for all fields, which only `containsAnyToken` can ask.
    public var path: String
    /// Whether the term holds where the test fails.
    public var isNegated: Bool
    /// The test.
    public var test: FieldTest

    /// Creates a term.
    public init(_ path: String, _ test: FieldTest, isNegated: Bool = false) {
        self.path = path
        self.isNegated = isNegated
        self.test = test
    }
}
