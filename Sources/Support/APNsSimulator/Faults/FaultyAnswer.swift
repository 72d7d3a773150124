/// An answer that APNs would not give, or not to this request.
struct FaultyAnswer: Hashable, Sendable {
    /// The HTTP status.
    var status = 200
    /// The reason that stands in the body, for the record; nil if there is none.
    var reason: String?
    /// The body, whether it is JSON or not.
    var body: [UInt8] = []
    /// The header `retry-after`.
    var retryAfter: String?
    /// So many bytes of headers that nobody asked for.
    var extraHeaderBytes = 0
}
