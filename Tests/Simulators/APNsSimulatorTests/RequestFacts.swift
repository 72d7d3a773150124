import PushServiceSimulator
import SimulatorTestClient

@testable import APNsSimulator

/// A request that passes all rules, to be spoilt in one point.
struct RequestFacts {
    static let deviceToken = String(repeating: "0123456789abcdef", count: 4)
    static let bundleID = "com.example.chat"

    var headers: [(String, String)] = [
        (":method", "POST"),
        (":scheme", "https"),
        (":authority", "localhost"),
        (":path", "/3/device/" + deviceToken),
        ("authorization", "bearer token"),
        ("apns-id", "123e4567-e89b-42d3-a456-426614174000"),
        ("apns-expiration", "1700000000"),
        ("apns-priority", "10"),
        ("apns-push-type", "alert"),
        ("apns-topic", bundleID),
        ("apns-collapse-id", "one"),
        ("content-type", "application/json"),
    ]
    var payload = #"{"aps":{"alert":"Hello"}}"#
    var tokenRejection: Rejection?

    /// The request with a header changed, or left out if the value is nil.
    func with(_ name: String, _ value: String?) -> RequestFacts {
        var copy = self
        copy.headers = headers.compactMap { header in
            header.0 == name ? value.map { (name, $0) } : header
        }
        return copy
    }

    /// The request with a header added, although it may be there already.
    func adding(_ name: String, _ value: String) -> RequestFacts {
        var copy = self
        copy.headers.append((name, value))
        return copy
    }

    /// The request with another payload.
    func payload(_ text: String) -> RequestFacts {
        var copy = self
        copy.payload = text
        return copy
    }

    /// The request as it would be for another push type.
    func type(_ type: String, topic: String, priority: String, payload: String) -> RequestFacts {
        with("apns-push-type", type).with("apns-topic", topic).with("apns-priority", priority).payload(payload)
    }

    /// Returns the verdict of the rules.
    func rejection(bundleIDs: [String] = [bundleID]) -> Rejection? {
        let request = RequestState(HeaderNames(RequestField.names), bodyBytesMaximum: 0)
        for (name, value) in headers { request.add(name, value) }
        let payload = Array(payload.utf8)
        return request.withFields { fields in
            RequestRules(bundleIdentifiers: bundleIDs).rejection(
                fields: fields, payload: payload, length: payload.count, authenticate: { tokenRejection })
        }
    }
}

extension WireRequest {
    /// A request like the good one of the rules' tests.
    init(_ facts: RequestFacts = RequestFacts(), token: String, deviceToken: String = RequestFacts.deviceToken) {
        self.init(
            headers: facts.with("authorization", "bearer " + token).with(":path", "/3/device/" + deviceToken).headers,
            body: Array(facts.payload.utf8))
    }
}

extension SimulatorClient {
    /// Connects to a simulator of APNs.
    static func connect(to simulator: APNsSimulator) async throws -> SimulatorClient {
        try await connect(port: simulator.port, trustAnchorPEM: simulator.trustAnchorPEM)
    }
}

extension ClientResponse {
    /// The header `apns-id`, or nil if there was no answer.
    var apnsID: String? { header("apns-id") }
}
