import Essentials
import JSON
import PushServiceSimulator
import Synchronization

/// The answers of APNs to requests about broadcast channels.
///
/// Source: Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification requests to
/// APNs", with their tables of reasons.
struct ChannelRules {
    /// A request about channels, taken apart.
    struct Request {
        var method = ""
        var path = ""
        var channel: String?
        var pushType: String?
        var priority: String?
        var expiration: String?
        var body: [UInt8] = []
    }

    private static let payloadBytesMaximum = 5_120

    let store: ChannelStore
    let bundleIDs: [String]

    /// Whether a path is one of these at all.
    static func isAboutChannels(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        path.starts(with: "/1/apps/".utf8) || path.starts(with: "/4/broadcasts/".utf8)
    }

    /// Judges a request whose provider token is good.
    func answer(_ request: Request) -> ServiceAnswer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("1", 4) where parts[1] == "apps": return manage(request, app: parts[2], resource: parts[3])
        case ("4", 4) where parts[1] == "broadcasts" && parts[2] == "apps": return broadcast(request, app: parts[3])
        default: return .apns(404, "BadPath")
        }
    }

    private func isForbidden(_ app: String) -> Bool { !bundleIDs.isEmpty && !bundleIDs.contains(app) }

    private func manage(_ request: Request, app: String, resource: String) -> ServiceAnswer {
        if isForbidden(app) { return .apns(400, "TopicDisallowed") }
        switch (resource, request.method) {
        case ("channels", "POST"): return create(request, app: app)
        case ("channels", "GET"), ("channels", "DELETE"): return existing(request, app: app)
        case ("all-channels", "GET"):
            let list = store.channels(app: app).map { "\"\($0)\"" }.joined(separator: ",")
            return ServiceAnswer(body: Array("{\"channels\":[\(list)]}".utf8))
        case ("channels", _), ("all-channels", _): return .apns(405, "MethodNotAllowed")
        default: return .apns(404, "BadPath")
        }
    }

    private func create(_ request: Request, app: String) -> ServiceAnswer {
        guard !request.body.isEmpty else { return .apns(400, "PayloadEmpty") }
        let parser = JSONParser(depthMaximum: 8, bytesMaximum: Self.payloadBytesMaximum)
        guard let object = try? parser.parse(request.body).object else {
            return .apns(400, "BadRequestPayload")
        }
        guard let type = object["push-type"] else { return .apns(400, "MissingPushType") }
        guard type.string == "LiveActivity" else { return .apns(400, "InvalidPushType") }
        guard let policy = object["message-storage-policy"]?.int64, policy == 0 || policy == 1 else {
            return .apns(400, "BadRequestPayload")
        }
        guard let channel = store.create(app: app, policy: Int(policy)) else {
            return .apns(400, "CannotCreateChannelConfig")
        }
        var answer = ServiceAnswer(status: 201)
        answer.headers = [AnswerHeader("apns-channel-id", channel)]
        return answer
    }

    private func existing(_ request: Request, app: String) -> ServiceAnswer {
        guard let channel = request.channel else { return .apns(400, "MissingChannelId") }
        guard let policy = store.policy(app: app, channel: channel) else {
            return .apns(400, "ChannelNotRegistered")
        }
        if request.method == "DELETE" {
            return store.remove(app: app, channel: channel)
                ? ServiceAnswer(status: 204) : .apns(400, "ChannelNotRegistered")
        }
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        return ServiceAnswer(body: Array(body.utf8))
    }

    private func broadcast(_ request: Request, app: String) -> ServiceAnswer {
        guard request.method == "POST" else { return .apns(405, "MethodNotAllowed") }
        if isForbidden(app) { return .apns(400, "TopicDisallowed") }
        guard let channel = request.channel else { return .apns(400, "MissingChannelId") }
        guard let policy = store.policy(app: app, channel: channel) else {
            return .apns(400, "ChannelNotRegistered")
        }
        guard let type = request.pushType else { return .apns(400, "MissingPushType") }
        guard type == "liveactivity" else { return .apns(400, "InvalidPushType") }
        guard request.priority.map({ ["5", "10"].contains($0) }) ?? true else {
            return .apns(400, "BadPriority")
        }
        guard let expiration = request.expiration.map({ Int64($0) }) ?? 0, policy == 1 || expiration == 0 else {
            return .apns(400, "BadExpirationDate")
        }
        guard !request.body.isEmpty else { return .apns(400, "PayloadEmpty") }
        guard request.body.count <= Self.payloadBytesMaximum else {
            return .apns(413, "PayloadTooLarge")
        }
        return ServiceAnswer()
    }
}

/// The broadcast channels that exist, by app.
final class ChannelStore: Sendable {
    /// How many an app may have (Apple, "Setting up broadcast push notifications").
    static let channelsMaximum = 10_000

    private let policies = Mutex<[String: [String: Int]]>([:])

    /// Makes a channel; nil if the app has too many.
    func create(app: String, policy: Int) -> String? {
        policies.withLock { policies in
            guard policies[app, default: [:]].count < Self.channelsMaximum else { return nil }
            var bytes = [UInt8](repeating: 0, count: 15)
            for index in bytes.indices { bytes[index] = .random(in: 0...255) }
            let channel = Base64.encode(bytes)
            policies[app, default: [:]][channel] = policy
            return channel
        }
    }

    /// The storage policy of a channel; nil if there is none.
    func policy(app: String, channel: String) -> Int? { policies.withLock { $0[app]?[channel] } }

    /// Removes a channel; the answer is false if there was none.
    func remove(app: String, channel: String) -> Bool {
        policies.withLock { $0[app]?.removeValue(forKey: channel) != nil }
    }

    /// All channels of an app, sorted.
    func channels(app: String) -> [String] { policies.withLock { ($0[app] ?? [:]).keys.sorted() } }
}
