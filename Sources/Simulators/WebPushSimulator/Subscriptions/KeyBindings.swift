import Synchronization

/// Which key each subscription was made with: its `applicationServerKey` (RFC 8292 §4).
final class KeyBindings: Sendable {
    private let known: UInt128?
    private let firstSeen = Mutex<[Int: UInt128]>([:])

    /// Describes the keys.
    ///
    /// - Parameter key: the key of all subscriptions, as a point of 65 bytes; nil if each is bound to the first key
    ///   that a valid push to it has.
    init(_ key: [UInt8]?) { known = key.map(Self.identity) }

    /// Whether a subscription takes only pushes of one key.
    func isBound(_ index: Int) -> Bool { known != nil || firstSeen.withLock { $0[index] != nil } }

    /// Whether a subscription takes pushes of a key, to which it is bound from now on if it was to none.
    func accepts(_ key: [UInt8], for index: Int) -> Bool {
        let identity = Self.identity(key)
        if let known { return known == identity }
        return firstSeen.withLock { keys in
            guard let first = keys[index] else {
                keys[index] = identity
                return true
            }
            return first == identity
        }
    }

    /// Forgets the first keys, as if all browsers had subscribed again.
    func forget() { firstSeen.withLock { $0 = [:] } }

    /// 128 bits of a point's x, which tell it from others.
    static func identity(_ point: [UInt8]) -> UInt128 {
        point.dropFirst().prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }
}
