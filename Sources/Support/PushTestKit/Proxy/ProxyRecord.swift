/// What a proxy has seen and done so far.
public struct ProxyRecord: Hashable, Sendable {
    /// How many connections were made through it, those that it reset at once included.
    public var connectionCount = 0
    /// How many of them have ended.
    public var endedCount = 0
    /// The traps that have sprung, in their order.
    public var sprung: [ProxyTrap] = []

    /// Nothing yet.
    public init() {}
}
