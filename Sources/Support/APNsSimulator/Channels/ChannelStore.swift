import Essentials
import Synchronization

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
