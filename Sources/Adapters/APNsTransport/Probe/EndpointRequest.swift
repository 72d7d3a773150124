/// A single request to APNs that is no push to a device.
public struct EndpointRequest: Sendable {
    /// The method, for example `GET`.
    public var method: String
    /// The path.
    public var path: String
    /// The header fields, names in lower case.
    public var headers: [(name: StaticString, value: String)]
    /// The body; empty for none.
    public var body: [UInt8]

    /// Describes a request.
    public init(method: String, path: String, headers: [(name: StaticString, value: String)], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}
