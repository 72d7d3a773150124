/// A posting of a predicate that is being added.
struct NewPosting: BitwiseCopyable {
    /// Its number.
    var number: UInt32
    /// Where the residual of its conjunction is among those of the predicate; nil if there is none.
    var residual: Int?
}
