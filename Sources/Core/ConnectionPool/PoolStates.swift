/// How many connections of a pool are in each state.
public struct PoolStates: Hashable, Sendable {
    /// Being made.
    public var connecting = 0
    /// Ready, with one request out to prove the provider token.
    public var proving = 0
    /// Ready, as many streams as allowed.
    public var open = 0
    /// Taking no new pushes.
    public var draining = 0

    /// Creates counts of nothing.
    public init() {}
}
