/// A request as it goes over the wire.
struct WireRequest: Sendable {
    var headers: [(String, String)]
    var body: [UInt8]

    /// A request like the good one of the rules' tests.
    init(_ facts: RequestFacts = RequestFacts(), token: String, deviceToken: String = RequestFacts.deviceToken) {
        headers = facts.with("authorization", "bearer " + token).with(":path", "/3/device/" + deviceToken).headers
        body = Array(facts.payload.utf8)
    }

    /// The request with a header changed or, if the value is nil, left out.
    func with(_ name: String, _ value: String?) -> WireRequest {
        var copy = self
        copy.headers = headers.compactMap { header in header.0 == name ? value.map { (name, $0) } : header }
        return copy
    }
}
