import FoundationEssentials
import PushServiceSimulator
import PushTestKit
import WebPush
import WebPushSimulator

/// A simulator of browsers' push services, and configurations for it.
struct BrowserServices {
    let simulator: WebPushSimulator
    let key: VAPIDKey
    private let folder: TemporaryFolder
    private let trustAnchorsFile: String

    /// Starts a simulator.
    ///
    /// - Parameters:
    ///   - script: its answers for particular subscriptions, by lines of JSON.
    ///   - change: changes it.
    /// - Throws: if there is no port, no thread or no certificate.
    init(script: String = "", change: (inout WebPushSimulatorConfiguration) -> Void = { _ in }) async throws {
        key = try VAPIDKey.generate()
        var configuration = WebPushSimulatorConfiguration()
        configuration.origins = [.init(.plain), .init(.mozilla), .init(.fcm)]
        configuration.recordsInMemoryMaximum = 1_000
        configuration.script = try SubscriptionScript(parsing: Array(script.utf8))
        change(&configuration)
        simulator = try await WebPushSimulator.start(configuration)
        folder = try TemporaryFolder()
        trustAnchorsFile = try folder.write("anchor.pem", simulator.trustAnchorPEM)
    }

    func configuration(name: String = "default") -> WebPushConfiguration {
        var configuration = WebPushConfiguration(name: name, key: key, subject: "mailto:push@example.com")
        configuration.trustedHosts = ["localhost"]
        configuration.extraTrustAnchorsFile = trustAnchorsFile
        configuration.timeout = .seconds(60)
        return configuration
    }

    func client() throws -> WebPushClient { try WebPushClient(configuration()) }

    /// A subscription as the page would send it to its server.
    func json(_ number: Int, of origin: String = "plain") throws -> Data {
        Data(try simulator.subscription(ofOrigin: origin, number).json.utf8)
    }

    func subscription(_ number: Int, of origin: String = "plain") throws -> WebPushSubscription {
        try JSONDecoder().decode(WebPushSubscription.self, from: try json(number, of: origin))
    }
}
