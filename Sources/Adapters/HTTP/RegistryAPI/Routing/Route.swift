import HTTPServer

/// One operation of an API: a method, a path, and the handler.
struct Route: Sendable {
    /// The most bytes that are read before the sender is known.
    static let strangerBodyBytes = 4 * 1_024
    /// Enough for a few members.
    static let smallBodyBytes = 16 * 1_024
    /// Enough for some hundred names, or for a subscription: its predicate has 64 KiB at most, and JSON writes some
    /// characters with two.
    static let mediumBodyBytes = 128 * 1_024
    /// Enough for everything; the server takes no longer ones.
    static let largeBodyBytes = 1 << 20

    /// The name by which metrics and logs call it, for example `RegisterDevice`.
    let name: String
    /// The method, for example `POST`.
    let method: String
    /// The path.
    let path: PathPattern
    /// The longest body, in bytes; a longer one is refused unread.
    let bodyBytesMaximum: Int
    /// Authenticates a request and checks its permission; runs on the server's thread.
    let admit: @Sendable (HTTPRequest, PathValues) -> Admission

    init(
        _ name: String, _ method: String, _ path: String, bodyBytesMaximum: Int = Route.smallBodyBytes,
        admit: @escaping @Sendable (HTTPRequest, PathValues) -> Admission
    ) {
        self.name = name
        self.method = method
        self.path = PathPattern(path)
        self.bodyBytesMaximum = bodyBytesMaximum
        self.admit = admit
    }

    /// The answer to a body that is too long.
    func bodyTooLong(_ api: any ClientAPI) -> HTTPResponse {
        api.refusal(413, "the body of this request may have \(bodyBytesMaximum) bytes at most")
    }
}
