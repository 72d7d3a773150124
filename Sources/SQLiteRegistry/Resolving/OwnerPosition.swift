/// Where a page of a list of identities or users ended: in which entry, after which device.
///
/// Both are kept in one number: the upper 22 bits hold the entry (a message is too small for more than four million),
/// the lower 41 bits hold the row of the device.
struct OwnerPosition {
    private static let rowBits: Int64 = 41
    private static let rowMask: Int64 = 1 << rowBits - 1

    /// The index of the entry in its list.
    var element: Int
    /// The row of the last device.
    var row: Int64

    /// Creates a position.
    init(element: Int, row: Int64) {
        self.element = element
        self.row = row
    }

    /// Reads a position from a number that is not negative.
    init(encoded: Int64) {
        element = Int(encoded >> Self.rowBits)
        row = encoded & Self.rowMask
    }

    /// The position as one number.
    var encoded: Int64 { Int64(element) << Self.rowBits | row & Self.rowMask }
}
