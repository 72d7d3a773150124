import ChangeQueue
import Essentials
import EventLoop
import HTTPClient
import Notifications
import PushCore
public import Webhooks

extension Configuration {
    /// The apps with a webhook, and what it takes to post to them.
    ///
    /// - Returns: one endpoint for each such app, in their order.
    public var webhookEndpoints: [WebhookEndpoint] { apps.compactMap { $0.webhookEndpoint } }

    /// The queues of the apps with a webhook.
    var webhookQueues: [WebhookQueue] {
        apps.compactMap { app in
            app.webhook.map { webhook in
                WebhookQueue(
                    app: app.name, messagesMaximum: Int64(webhook.queueMessagesMaximum), overflow: webhook.overflow)
            }
        }
    }
}

extension Configuration.App {
    /// Where the app's outcomes are posted to; nil if nowhere.
    public var webhookEndpoint: WebhookEndpoint? {
        // What cannot be read was refused before.
        guard let webhook, var address = PostAddress(webhook.url) else { return nil }
        address.destination.caFile = webhook.caFile ?? ""
        address.destination.admitsAddress = webhook.admitsAddress(address)
        return WebhookEndpoint(
            app: name, address: address, secrets: webhook.secrets.compactMap { WebhookSecret($0.revealed) },
            timeoutNanoseconds: webhook.timeout.nanoseconds, requestsMaximum: webhook.requestsMaximum,
            retries: WebhookRetries(retentionMilliseconds: Int64(webhook.retention.milliseconds)))
    }
}

extension Configuration.Webhook {
    /// Which addresses may be connected to, after the name was looked up; nil for all.
    ///
    /// The host name of a webhook may resolve to an address behind the firewall, by mistake or by intent of the name's
    /// owner. A URL whose host is a loopback address is allowed to reach it.
    func admitsAddress(_ address: PostAddress) -> (@Sendable ([UInt8]) -> Bool)? {
        guard !allowsPrivateAddresses else { return nil }
        let policy = AddressPolicy(allowedRanges: Self.isLoopback(address) ? Self.loopback : [])
        return { policy.allows($0) }
    }

    /// Whether requests may go there without TLS.
    func mayBePlain(_ address: PostAddress) -> Bool { allowsPrivateAddresses || Self.isLoopback(address) }

    /// Why nothing can be posted to an address that the URL itself names; nil if something can.
    func refusal(of address: PostAddress) -> String? {
        let host = address.destination.host
        guard let admits = admitsAddress(address) else { return nil }
        return switch LiteralHost(host) {
        case .name: nil
        case .address(let bytes): admits(bytes) ? nil : "\(host) is not a public address"
        case .malformed: "\(host) is neither a name nor an address"
        }
    }

    private static let loopback = [([127, 0, 0, 0], 8), ([UInt8](repeating: 0, count: 15) + [1], 128)].compactMap {
        AddressRange(address: $0.0, prefixBits: $0.1)
    }

    private static func isLoopback(_ address: PostAddress) -> Bool {
        HostPort(host: address.destination.host, port: address.destination.port).isLoopback
    }
}
