import FCM

/// Every example of the documentation, so that it compiles; `ArticleTests` compares the texts.
enum ArticleExamples {
    static func configuration() -> FCMConfiguration {
        let configuration = FCMConfiguration(serviceAccount: .file("service-account.json"))
        return configuration
    }

    static func firstMessage(_ configuration: FCMConfiguration, token: String) async throws -> FCMResult {
        let client = try FCMClient(configuration)
        let message = try FCMMessage([.title("Mei Chen"), .body("Are you there?"), .channel("chat")])
        let result = try await client.send(message, to: FCMTarget(token: token))
        print(result.outcome, result.messageName ?? "")
        await client.close()
        return result
    }

    static func messages() throws -> [FCMMessage] {
        let invitation = try FCMMessage(
            [
                .localizedTitle(key: "invited_by", arguments: ["Mei Chen"]), .body("Room 7"),
                .image("https://example.com/7.png"), .channel("invitations"), .tag("room-7"), .data("room", "7"),
            ], timeToLive: .seconds(3_600), collapseKey: "room-7")
        let silent = try FCMMessage([.data("changed", "notes")])
        let everywhere = try FCMMessage([
            .title("Mei Chen"), .body("Are you there?"), .member("android.notification.visibility", "PRIVATE"),
            .member("apns.payload", ["aps": ["sound": "default"]]),
            .member("webpush.fcm_options.link", "https://example.com/chat"),
        ])
        return [invitation, silent, everywhere]
    }

    static func severalProjects(_ message: FCMMessage, target: FCMTarget) async throws -> FCMResult {
        let account = FCMServiceAccount.file("service-account.json")
        let client = try FCMClient([
            FCMConfiguration(name: "chat", serviceAccount: account),
            FCMConfiguration(name: "shop", serviceAccount: account, projectID: "shop-4711"),
        ])
        let result = try await client.send(message, to: target, using: "shop")
        return result
    }

    static func many(
        _ client: FCMClient, _ message: FCMMessage, targets: [FCMTarget],
        targetsFromTheDatabase: AsyncStream<FCMTarget>, removeFromTheDatabase: (FCMTarget) async -> Void
    ) async throws {
        let results = try await client.send(message, to: targets)
        for result in results where !result.isAccepted { print(result.target, result.outcome) }
        for await result in try client.results(of: message, to: targetsFromTheDatabase) {
            if case .rejected(let rejection) = result.outcome, rejection.isTokenDead {
                await removeFromTheDatabase(result.target)
            }
        }
    }

    static func outcomes(
        _ result: FCMResult, removeFromTheDatabase: (FCMTarget) async -> Void,
        sendLater: (FCMTarget, _ after: Duration) async -> Void
    ) async {
        switch result.outcome {
        case .accepted: break
        case .rejected(let rejection):
            switch rejection.remedy {
            case .removeToken: await removeFromTheDatabase(result.target)
            case .removeTokenOrCorrectConfiguration: print("not of this project:", result.target)
            case .correctMessage, .correctKey: print("to be corrected:", rejection)
            case .sendLater: await sendLater(result.target, rejection.retryAfter ?? .seconds(60))
            }
        case .failed(.notProcessed): await sendLater(result.target, .seconds(1))
        case .failed(.ambiguous): await sendLater(result.target, .seconds(60))
        }
    }

    static func simulator() -> FCMConfiguration {
        var configuration = FCMConfiguration(serviceAccount: .file("account.json"))
        configuration.endpoint = "127.0.0.1:8444"
        configuration.extraTrustAnchorsFile = "anchor.pem"
        return configuration
    }

    static func proxy() -> FCMConfiguration {
        var configuration = FCMConfiguration(serviceAccount: .file("service-account.json"))
        configuration.proxyURL = "http://user:password@proxy.example.com:3128"
        return configuration
    }
}
