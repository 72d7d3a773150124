/// What a term of a residual tests.
enum ResidualOperation: UInt32 {
    /// Nothing passes.
    case never
    /// The digest of the value is one of these.
    case isIn
    /// The value lies within bounds.
    case isInRange
    /// The text begins with this.
    case beginsWith
    /// The text has this in it.
    case containsText
    /// The digest of a member of the list is one of these.
    case memberIsIn
    /// A member of the list begins with this.
    case memberBeginsWith
    /// The digest of a word is one of these.
    case hasWord
    /// The place is within a circle.
    case isWithin
}
