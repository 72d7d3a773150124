/// Where a page of a list of identities or users ended: in which entry, after which device.
///
/// Both are kept in the one number of an `AudienceCursor`: the upper 22 bits hold the entry (a message is too small for
/// more than four million), the lower 41 bits hold the device's row in the registry.
public struct OwnerPosition: Hashable, Sendable {
    private static let rowBits: Int64 = 41
    private static let rowMask: Int64 = 1 << rowBits - 1

    /// The index of the entry in its list.
    public var element: Int
    /// The row of the last device.
    public var row: Int64

    /// Creates a position.
    public init(element: Int, row: Int64) {
        self.element = element
        self.row = row
    }

    /// Reads a position from a number that is not negative.
    public init(encoded: Int64) {
        element = Int(encoded >> Self.rowBits)
        row = encoded & Self.rowMask
    }

    /// The position as one number.
    public var encoded: Int64 { Int64(element) << Self.rowBits | row & Self.rowMask }
}
