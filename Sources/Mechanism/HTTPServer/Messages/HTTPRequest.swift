/// A request that has come in whole.
public struct HTTPRequest: Sendable {
    /// The method, for example `GET`, as it was sent.
    public let method: String
    /// The path and the query.
    public let target: HTTPTarget
    /// The header fields in their order, names in lower case.
    public let fields: [HTTPField]
    /// The body; empty if there is none.
    public let body: [UInt8]
    /// The numeric address of whoever is at the other end of the connection; empty if it is not known.
    public let clientAddress: String

    /// Creates a request.
    public init(
        method: String, target: HTTPTarget, fields: [HTTPField], body: [UInt8] = [], clientAddress: String = ""
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.clientAddress = clientAddress
    }

    /// Whose share of what each address may do this request takes: its address, or its network of IPv6.
    public var clientShare: String { ClientAddress(clientAddress).share }

    /// The same request with its body.
    func with(body: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: method, target: target, fields: fields, body: body, clientAddress: clientAddress)
    }

    /// The value of the only field of that name, which is given in lower case; nil if there is none or several.
    public func field(_ name: String) -> String? { fields.value(name) }

    /// The value of the only query item of that name; nil if there is none or several.
    public func query(_ name: String) -> String? {
        let found = target.queryItems.lazy.filter { $0.name == name }.prefix(2)
        return found.count == 1 ? found.first?.value : nil
    }
}
