import Hashing

/// The identity of an event, by which the registry remembers it: its source, its identifier, and its owner.
///
/// The owner is the app or the identity pool. It counts, so that no publisher of one app can make the event of another
/// app look repeated. 128 bits tell an event from all others.
public struct EventIdentity: Hashable, BitwiseCopyable, Sendable {
    /// 64 bits of the source and the identifier alone.
    public let key: Int64
    /// 64 bits of all parts.
    public let rest: Int64

    /// Takes the two halves as they were kept.
    public init(key: Int64, rest: Int64) {
        self.key = key
        self.rest = rest
    }

    /// Names an event.
    ///
    /// - Parameters:
    ///   - source: the attribute `source`.
    ///   - identifier: the attribute `id`.
    ///   - owner: the app, or the identity pool of a dataset.
    public init(source: String, identifier: String, owner: String) {
        var digest = Self.digest(source, identifier)
        key = Self.finished(digest).high
        digest.mix(owner)
        rest = Self.finished(digest).low
    }

    /// Feeds the half that all parts make to the hasher: it is spread well as it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(rest) }

    /// The key of an event whose owner is not known.
    public static func key(source: String, identifier: String) -> Int64 { finished(digest(source, identifier)).high }

    private static func digest(_ source: String, _ identifier: String) -> WordDigest {
        var digest = WordDigest()
        digest.mix(source)
        digest.mix(identifier)
        return digest
    }

    private static func finished(_ digest: WordDigest) -> (high: Int64, low: Int64) {
        var digest = digest
        digest.finish()
        return (Int64(bitPattern: digest.high), Int64(bitPattern: digest.low))
    }
}
