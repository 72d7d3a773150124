/// A posting that a probe has led to.
struct Candidate: BitwiseCopyable {
    /// A `proof` that only the posting tells.
    static let unknownProof = UInt32.max

    /// The place of the probe.
    var probe: UInt32
    /// The posting; while it is being looked for, what the key table has.
    var posting: UInt32 = 0
    /// The places of the members that its proof has beside the key, as in a `BucketNode.Entry`, or `unknownProof`.
    var proof = Candidate.unknownProof
    /// The address of its residual; 0 if it has none.
    var residual: UInt32 = 0
}
