import Hashing
public import Messages

/// The wish of a publisher that its event be pushed once, however often it comes.
extension Message {
    /// The name of the header that says so (boolean, true).
    ///
    /// It is the publisher's own: it stays on requeued copies, which are never looked up, because Apus wrote them.
    public static let rememberHeader = "x-remember"

    /// Whether the event is to be remembered when its pushes have ended.
    public var asksToBeRemembered: Bool { header(Self.rememberHeader) == .boolean(true) }

    /// Asks that the event be remembered.
    public mutating func askToBeRemembered() {
        headers.append(MessageHeader(Self.rememberHeader, .boolean(true)))
    }

    /// A digest of the body, of 32 bits with a sign, which tells another content under the same identity.
    public var contentDigest: Int64 { Self.contentDigest(of: body) }

    /// The digest of a body.
    public static func contentDigest(of body: [UInt8]) -> Int64 {
        var digest = WordDigest()
        body.withUnsafeBytes { digest.mix($0) }
        digest.finish()
        return Int64(Int32(truncatingIfNeeded: digest.high))
    }
}
