import FoundationEssentials
import WebPush

/// Every example of the documentation, so that it compiles; `ArticleTests` compares the texts.
enum ArticleExamples {
    static func makeKey() throws -> VAPIDKey {
        let key = try VAPIDKey.generate()
        print(key.pem, key.applicationServerKey)
        return key
    }

    static func configuration() throws -> WebPushConfiguration {
        let configuration = WebPushConfiguration(
            key: try VAPIDKey(file: "vapid.pem"), subject: "mailto:push@example.com")
        return configuration
    }

    static func firstPush(_ configuration: WebPushConfiguration, json: Data) async throws -> WebPushResult {
        let client = try WebPushClient(configuration)
        let subscription = try JSONDecoder().decode(WebPushSubscription.self, from: json)
        let message = try WebPushMessage(json: ["title": "Mei Chen", "body": "Are you there?"])
        let result = await client.send(message, to: subscription)
        print(result.outcome)
        await client.close()
        return result
    }

    static func messages() throws -> [WebPushMessage] {
        struct Invitation: Encodable { var title: String, body: String, room: Int }
        let invitation = try WebPushMessage(
            json: Invitation(title: "Mei Chen", body: "Room 7", room: 7), timeToLive: .seconds(3_600), urgency: .high,
            topic: "room-7")
        return [invitation]
    }

    static func many(
        _ client: WebPushClient, _ message: WebPushMessage, subscriptions: [WebPushSubscription],
        subscriptionsFromTheDatabase: AsyncStream<WebPushSubscription>,
        removeFromTheDatabase: (WebPushSubscription) async -> Void
    ) async throws {
        let results = await client.send(message, to: subscriptions)
        for result in results where !result.isAccepted { print(result.subscription, result.outcome) }
        for await result in client.results(of: message, to: subscriptionsFromTheDatabase) where result.isGone {
            await removeFromTheDatabase(result.subscription)
        }
    }

    static func outcomes(
        _ result: WebPushResult, removeFromTheDatabase: (WebPushSubscription) async -> Void,
        sendLater: (WebPushSubscription, _ after: Duration) async -> Void
    ) async {
        switch result.outcome {
        case .accepted: break
        case .rejected(let rejection):
            switch rejection.remedy {
            case .removeSubscription: await removeFromTheDatabase(result.subscription)
            case .removeSubscriptionOrCorrectKey: print("made with another key:", result.subscription)
            case .correctMessage, .correctKey: print("to be corrected:", rejection)
            case .sendLater: await sendLater(result.subscription, rejection.retryAfter ?? .seconds(60))
            }
        case .failed(.notProcessed): await sendLater(result.subscription, .seconds(1))
        case .failed(.ambiguous): await sendLater(result.subscription, .seconds(60))
        }
    }

    static func simulator(key: VAPIDKey) -> WebPushConfiguration {
        var configuration = WebPushConfiguration(key: key, subject: "mailto:push@example.com")
        configuration.trustedHosts = ["localhost"]
        configuration.extraTrustAnchorsFile = "anchor.pem"
        return configuration
    }

    static func proxy(_ configuration: WebPushConfiguration) -> WebPushConfiguration {
        var configuration = configuration
        configuration.proxyURL = "http://user:password@proxy.example.com:3128"
        return configuration
    }
}
