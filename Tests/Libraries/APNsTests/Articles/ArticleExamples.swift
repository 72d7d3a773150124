import APNs
import FoundationEssentials

/// Every example of the documentation, so that it compiles; `ArticleTests` compares the texts.
enum ArticleExamples {
    static func firstPush() async throws {
        let client = try PushClient(
            PushConfiguration(
                bundleID: "com.example.chat", key: .file("AuthKey_ABC123DEFG.p8"), keyID: "ABC123DEFG",
                teamID: "DEF123GHIJ"))
        let message = try PushMessage([.title("Mei Chen"), .body("Are you there?"), .sound("default")])
        let result = try await client.send(message, to: PushToken("6e5a…"))
        print(result.outcome)
        await client.close()
    }

    static func messages() throws -> [PushMessage] {
        struct Room: Encodable, Sendable { var id: Int }
        let invitation = try PushMessage(
            [
                .localizedTitle(key: "INVITED_BY", arguments: ["Mei Chen"]), .body("Room 7"), .badge(3),
                .category("INVITATION"),
                .threadID("room-7"), .interruptionLevel(.timeSensitive), .mutableContent, .custom("room", Room(id: 7)),
            ], expiration: .after(.seconds(3_600)), collapseID: "room-7")
        let silent = try PushMessage([.contentAvailable, .custom("changed", ["notes"])])
        return [invitation, silent]
    }

    static func many(
        _ client: PushClient, _ message: PushMessage, tokens: [PushToken], tokensFromTheDatabase: AsyncStream<PushToken>
    ) async throws {
        let results = try await client.send(message, to: tokens)
        for result in results where !result.isAccepted { print(result.token, result.outcome) }
        for await result in try client.results(of: message, to: tokensFromTheDatabase) {
            if case .rejected(let rejection) = result.outcome, rejection.remedy == .removeToken {
                await removeFromTheDatabase(result.token)
            }
        }
    }

    static func lazily(_ client: PushClient, _ message: PushMessage, rows: [(name: String, token: PushToken)])
        async throws
    {
        for await result in try client.results(of: message, to: rows.lazy.map(\.token)) { print(result.outcome) }
    }

    static func activities() throws -> [PushMessage] {
        struct Match: Encodable, Sendable { var name: String }
        struct Score: Encodable, Sendable { var home: Int, away: Int }
        let now = Date.now
        let start = try PushMessage(
            [
                .liveActivity(
                    .start(
                        attributesType: "MatchAttributes", attributes: Match(name: "Lions – Bears"),
                        contentState: Score(home: 0, away: 0), timestamp: now)),
                .title("Lions – Bears"), .body("It begins"),
            ])
        let goal = try PushMessage(
            [.liveActivity(.update(contentState: Score(home: 1, away: 0), timestamp: now + 60))],
            urgency: .immediate)
        let end = try PushMessage(
            [.liveActivity(.end(contentState: Score(home: 1, away: 0), timestamp: now + 5_400))])
        return [start, goal, end]
    }

    static func outcomes(_ result: PushResult) async {
        switch result.outcome {
        case .accepted: break
        case .rejected(let rejection):
            switch rejection.remedy {
            case .removeToken: await removeFromTheDatabase(result.token)
            case .removeTokenOrCorrectConfiguration: print("not for this app or environment:", result.token)
            case .correctMessage, .correctKey: print("to be corrected:", rejection)
            case .sendLater: await sendLater(result.token, after: rejection.retryAfter ?? .seconds(60))
            }
        case .failed(.notProcessed): await sendLater(result.token, after: .seconds(1))
        case .failed(.ambiguous): await sendLater(result.token, after: .seconds(60))
        }
    }

    static func severalApps(_ message: PushMessage, token: PushToken) async throws -> PushResult {
        let key = SigningKey.file("AuthKey_ABC123DEFG.p8")
        var store = PushConfiguration(
            name: "chat", bundleID: "com.example.chat", key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        store.connectionsMaximum = 4
        let development = PushConfiguration(
            name: "chat-development", bundleID: "com.example.chat", key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            environment: .sandbox)
        let client = try PushClient([store, development])
        let result = try await client.send(message, to: token, using: "chat-development")
        return result
    }

    static func proxy() -> PushConfiguration {
        var configuration = PushConfiguration(
            bundleID: "com.example.chat", key: .file("AuthKey_ABC123DEFG.p8"), keyID: "ABC123DEFG", teamID: "DEF123GHIJ"
        )
        configuration.proxyURL = "http://user:password@proxy.example.com:3128"
        configuration.port = 2197
        return configuration
    }

    static func simulator() -> PushConfiguration {
        var configuration = PushConfiguration(
            bundleID: "com.example.chat", key: .file("key.p8"), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            environment: .endpoint("127.0.0.1:8443"))
        configuration.extraTrustAnchorsFile = "anchor.pem"
        return configuration
    }

    static func broadcast(_ configuration: PushConfiguration) async throws {
        let channels = try BroadcastChannels(configuration)
        let channel = try await channels.create(storing: .mostRecent)
        let goal = try PushMessage(
            [.liveActivity(.update(contentState: ["home": 1, "away": 0], timestamp: .now))],
            expiration: .after(.seconds(600)))
        try await channels.send(goal, to: channel)
        print(try await channels.list())
        try await channels.delete(channel)
    }

    private static func removeFromTheDatabase(_ token: PushToken) async {}

    private static func sendLater(_ token: PushToken, after: Duration) async {}
}
