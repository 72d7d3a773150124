/// Where a posting is found by its key.
struct PostingPlace: BitwiseCopyable {
    /// The key's bits in the table.
    var tableHash: UInt32 = 0
    /// The node that lists it among the postings with the same bits in the table; 0 if there is no other.
    var node: UInt32 = 0
}
