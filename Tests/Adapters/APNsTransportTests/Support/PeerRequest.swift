/// A request that reached the scripted peer.
struct PeerRequest: Sendable {
    var connection: Int
    var stream: Int32
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    /// The device token, in hexadecimal digits.
    var token: String { String((headers[":path"] ?? "").dropFirst("/3/device/".count)) }
    var identifier: String { headers["apns-id"] ?? "" }
}
