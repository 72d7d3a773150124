/// The numbers by which canonical bytes name things; they never change.
enum CanonicalCode {
    /// The version of the form, its first byte.
    static let version: UInt8 = 1

    /// Kinds of tests.
    enum Test {
        static let equals: UInt8 = 1
        static let isIn: UInt8 = 2
        static let isInRange: UInt8 = 3
        static let beginsWith: UInt8 = 4
        static let containsText: UInt8 = 5
        static let listContains: UInt8 = 6
        static let listContainsAny: UInt8 = 7
        static let listMemberBeginsWith: UInt8 = 8
        static let containsAnyToken: UInt8 = 9
        static let isWithin: UInt8 = 10
    }

    /// Kinds of values.
    enum Value {
        static let string: UInt8 = 1
        static let integer: UInt8 = 2
        static let double: UInt8 = 3
        static let boolean: UInt8 = 4
        static let date: UInt8 = 5
        static let bytes: UInt8 = 6
        /// To a record of the default zone.
        static let reference: UInt8 = 7
        static let location: UInt8 = 8
        static let list: UInt8 = 9
        /// To a record of another zone.
        static let zoneReference: UInt8 = 10
    }

    /// What is known of a range, as bits.
    enum Range {
        static let hasLower: UInt8 = 1
        static let hasUpper: UInt8 = 2
        static let lowerIsIncluded: UInt8 = 4
        static let upperIsIncluded: UInt8 = 8
    }
}
