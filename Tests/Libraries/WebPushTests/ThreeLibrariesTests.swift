import APNs
import Crypto
import FCM
import FCMSimulator
import Synchronization
import Testing
import WebPush

@Suite("A program with all three libraries")
struct ThreeLibrariesTests {
    /// Keeps the sums of counters.
    private final class Observer: PushLogHandler, PushMetricsFactory {
        let sums = Mutex<[String: Int64]>([:])

        func log(level: PushLogLevel, message: String, metadata: [String: String]) {}

        func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let name = label + " " + (dimensions.last?.1 ?? "")
            return { amount in self.sums.withLock { $0[name, default: 0] += amount } }
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void { { _ in } }
        func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void { { _ in } }
    }

    @Test("Their names do not collide, and one observer and one kind of error serve them all")
    func standTogether() async throws {
        let observer = Observer()
        let pem = try ES256PrivateKey.generate().pem
        let apple = try PushClient(
            PushConfiguration(
                bundleID: "com.example.chat", key: .pem(pem), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
                environment: .endpoint("127.0.0.1:1")), logHandler: observer, metricsFactory: observer)
        let account = try ServiceAccountKey(projectID: "chat-4711").credentialsJSON(tokenURI: "https://127.0.0.1:1/")
        var project = FCMConfiguration(serviceAccount: .json(account.utf8))
        project.endpoint = "127.0.0.1:1"
        let google = try FCMClient(project, logHandler: observer, metricsFactory: observer)
        let browsers = try WebPushClient(
            WebPushConfiguration(key: VAPIDKey(pem), subject: "mailto:push@example.com"), logHandler: observer,
            metricsFactory: observer)
        // A closed client sends nothing, so the outcome is certain.
        await apple.close()
        await google.close()
        await browsers.close()
        let toApple = try await apple.send(try PushMessage([.body("Hello")]), to: try PushToken("abcd"))
        let toGoogle = try await google.send(
            try FCMMessage([.body("Hello")]), to: try FCMTarget(token: "dQw4w9WgXcQ"))
        let subscription = try WebPushSubscription(
            endpoint: "https://push.example.net/push/1",
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            auth: "BTBZMqHH6r4Tts7J_aSIgg")
        let toBrowser = await browsers.send(try WebPushMessage("Hello".utf8), to: subscription)
        let closed = PushFailure.notProcessed("the transport is closed")
        #expect(toApple.outcome == .failed(closed) && toGoogle.outcome == .failed(closed))
        #expect(toBrowser.outcome == .failed(closed))
        #expect(
            observer.sums.withLock { $0 } == [
                "apns_pushes_total not_processed": 1, "fcm_pushes_total not_processed": 1,
                "webpush_pushes_total not_processed": 1,
            ])
        let errors = [
            #expect(throws: PushError.self) { try PushToken("") },
            #expect(throws: PushError.self) { try FCMTarget(token: "") },
            #expect(throws: PushError.self) { try WebPushSubscription(endpoint: "", p256dh: "", auth: "") },
        ]
        #expect(errors.map { $0?.code } == [.tokenInvalid, .tokenInvalid, .tokenInvalid])
    }
}
