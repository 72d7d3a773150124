internal import APNsTransport
internal import FoundationEssentials
import Notifications
public import PushLibrary
internal import ServiceClient

/// The broadcast channels of an app: one push to a channel updates or ends a Live Activity on every device that
/// listens.
///
/// Each call opens a connection of its own, because calls are rare; only `send` reaches the devices. Source: Apple,
/// "Setting up broadcast push notifications", "Sending channel management requests to APNs", "Sending broadcast push
/// notification requests to APNs".
public struct BroadcastChannels: Sendable {
    /// The pushes that APNs stores for devices that are offline.
    public enum StoragePolicy: Int, Sendable {
        /// None, which allows more pushes; their expiration has to be immediate.
        case nothing = 0
        /// The most recent push, for up to eight hours.
        case mostRecent = 1
    }

    private let configuration: PushConfiguration
    private let pushRoute: APNsRoute
    private let managementRoute: APNsRoute

    /// Prepares the channels of an app.
    ///
    /// - Parameter configuration: the app; in place of Apple's hosts its `endpoint`, if it names one.
    /// - Throws: `PushError` (`keyInvalid`, `configurationInvalid`).
    public init(_ configuration: PushConfiguration) throws(PushError) {
        self.configuration = configuration
        pushRoute = try configuration.makeRoute()
        var management = configuration
        switch configuration.environment {
        case .production: management.environment = .endpoint("api-manage-broadcast.push.apple.com:2196")
        case .sandbox: management.environment = .endpoint("api-manage-broadcast.sandbox.push.apple.com:2195")
        case .endpoint: break
        }
        managementRoute = try management.makeRoute()
    }

    /// Makes a channel; an app may have ten thousand.
    ///
    /// - Parameter policy: the pushes that APNs stores; it cannot be changed later.
    /// - Returns: the channel's identifier, which devices subscribe to.
    /// - Throws: `ChannelError`, as all of these.
    public func create(storing policy: StoragePolicy) async throws(ChannelError) -> String {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        let answer = try await manage("POST", "channels", channel: nil, body: Array(body.utf8), expected: 201)
        guard let channel = answer.channelID else { throw Self.misunderstood("it names no channel") }
        return channel
    }

    /// Returns the storage policy of a channel.
    public func storagePolicy(of channel: String) async throws(ChannelError) -> StoragePolicy {
        struct Answer: Decodable {
            var policy: Int

            private enum CodingKeys: String, CodingKey { case policy = "message-storage-policy" }
        }
        let answer = try await manage("GET", "channels", channel: channel, expected: 200)
        guard let parsed = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)),
            let policy = StoragePolicy(rawValue: parsed.policy)
        else { throw Self.misunderstood("it names no storage policy") }
        return policy
    }

    /// The identifiers of all channels of the app in this environment.
    public func list() async throws(ChannelError) -> [String] {
        struct Answer: Decodable { var channels: [String] }
        let answer = try await manage("GET", "all-channels", channel: nil, expected: 200)
        guard let parsed = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)) else {
            throw Self.misunderstood("it lists no channels")
        }
        return parsed.channels
    }

    /// Removes a channel for ever.
    public func delete(_ channel: String) async throws(ChannelError) {
        _ = try await manage("DELETE", "channels", channel: channel, expected: 204)
    }

    /// Sends to all devices that subscribe to a channel.
    ///
    /// - Parameters:
    ///   - message: an update or the end of a Live Activity; its expiration has to be immediate if the channel stores
    ///     nothing.
    ///   - channel: the channel.
    /// - Throws: `ChannelError`; once sent, `rejected` or `failed` says what became of it.
    public func send(_ message: PushMessage, to channel: String) async throws(ChannelError) {
        let content: PushContent
        do throws(PushError) {
            guard message.kind == .liveactivity, !message.startsLiveActivity else {
                throw PushError(
                    .messageInvalid, "a broadcast can update or end a Live Activity; it can neither start one nor alert"
                )
            }
            content = try message.content(bundleID: configuration.bundleID)
        } catch { throw .invalid(error) }
        var headers: [(name: StaticString, value: String)] = [
            ("apns-channel-id", channel), ("apns-push-type", content.pushType.rawValue),
            ("apns-priority", String(content.priority.rawValue)), ("apns-request-id", message.identifier),
        ]
        if let seconds = content.expirationSeconds { headers.append(("apns-expiration", String(seconds))) }
        let request = EndpointRequest(
            method: "POST", path: "/4/broadcasts/apps/\(configuration.bundleID)", headers: headers,
            body: content.payload)
        _ = try await exchange(request, over: pushRoute, expected: 200)
    }

    private func manage(
        _ method: String, _ resource: String, channel: String?, body: [UInt8] = [], expected: Int
    ) async throws(ChannelError) -> EndpointAnswer {
        var headers: [(name: StaticString, value: String)] = []
        if let channel { headers.append(("apns-channel-id", channel)) }
        if !body.isEmpty { headers.append(("content-type", "application/json")) }
        let request = EndpointRequest(
            method: method, path: "/1/apps/\(configuration.bundleID)/\(resource)", headers: headers, body: body)
        return try await exchange(request, over: managementRoute, expected: expected)
    }

    private func exchange(
        _ request: EndpointRequest, over route: APNsRoute, expected: Int
    ) async throws(ChannelError) -> EndpointAnswer {
        let answer: EndpointAnswer
        do throws(EndpointExchange.Failure) {
            answer = try await EndpointExchange.send(
                request, over: route.serviceRoute, timeoutSeconds: configuration.timeout / .seconds(1))
        } catch {
            switch error {
            case .notSent(let error): throw .failed(.notProcessed(error.message))
            case .ambiguous(let reason): throw .failed(.ambiguous(reason))
            }
        }
        guard answer.status == expected else { throw .rejected(PushRejection(answer.pushAnswer)) }
        return answer
    }

    private static func misunderstood(_ what: String) -> ChannelError {
        .failed(.ambiguous("APNs' answer cannot be understood: \(what)"))
    }
}

/// Why something could not be done with a broadcast channel.
public enum ChannelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program has to correct something; nothing was sent.
    case invalid(PushError)
    /// APNs answered that it does not do it.
    case rejected(PushRejection)
    /// There was no answer that could be understood.
    case failed(PushFailure)

    /// The problem.
    public var description: String {
        switch self {
        case .invalid(let error): error.description
        case .rejected(let rejection): rejection.description
        case .failed(let failure): failure.description
        }
    }
}
