/// The contents of the idempotency keys that this process has published lately.
///
/// The registry knows a key when its push has ended. Until then the process that took it knows it, as far as it has
/// room: a key that it has forgotten is taken again.
struct RecentKeys {
    /// How many keys it has room for.
    static let countMaximum = 65_536

    private struct Use {
        let content: Int64
        let milliseconds: Int64
    }

    private let rememberMilliseconds: Int64
    private var uses: [Int64: Use] = [:]
    /// The keys in the order of their first use, from `first` on.
    private var order: [Int64] = []
    private var first = 0

    init(rememberMilliseconds: Int64) { self.rememberMilliseconds = rememberMilliseconds }

    /// Notes a use of a key.
    ///
    /// - Parameters:
    ///   - key: the digest of the key and its token (`EventIdentity.key`).
    ///   - content: the digest of the content.
    ///   - now: when it is, in milliseconds since 1970.
    /// - Returns: whether it stands for another content.
    mutating func isReused(_ key: Int64, for content: Int64, at now: Int64) -> Bool {
        guard rememberMilliseconds > 0 else { return false }
        if let use = uses[key], now - use.milliseconds < rememberMilliseconds { return use.content != content }
        if uses.updateValue(Use(content: content, milliseconds: now), forKey: key) == nil { order.append(key) }
        if order.count - first > Self.countMaximum {
            uses[order[first]] = nil
            first += 1
            if first == Self.countMaximum {
                order.removeFirst(first)
                first = 0
            }
        }
        return false
    }
}
