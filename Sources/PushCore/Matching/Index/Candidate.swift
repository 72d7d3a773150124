/// A posting that a probe has led to.
struct Candidate: BitwiseCopyable {
    /// The place of the probe.
    var probe: UInt32
    /// The posting; while it is being looked for, what the key table has.
    var posting: UInt32 = 0
    /// The address of its residual; 0 if it has none.
    var residual: UInt32 = 0
}
