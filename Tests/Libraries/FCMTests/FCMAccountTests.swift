import FCM
import FCMSimulator
import PushTestKit
import Synchronization
import Testing

@Suite("FCM client: accounts, configurations and observing")
struct FCMAccountTests {
    private static let hello = Result { try FCMMessage([.body("Hello")]) }

    /// Keeps the entries of a log, and the sums of counters.
    private final class Observer: PushLogHandler, PushMetricsFactory {
        let entries = Mutex<[(level: PushLogLevel, message: String, metadata: [String: String])]>([])
        let sums = Mutex<[String: Int64]>([:])

        func log(level: PushLogLevel, message: String, metadata: [String: String]) {
            entries.withLock { $0.append((level, message, metadata)) }
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let name = label + dimensions.map { " \($0)=\($1)" }.joined()
            return { amount in self.sums.withLock { $0[name, default: 0] += amount } }
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void { { _ in } }
        func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void { { _ in } }
    }

    private static func code(_ body: () throws -> Void) -> PushError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? PushError)?.code }
    }

    @Test("An account that Google does not know is to be corrected, is logged with Google's words, and blames no token")
    func reportsAnUnknownAccount() async throws {
        let other = try ServiceAccountKey(projectID: "another-1")
        let service = try await MessagingService { $0.accounts = [other.account] }
        let observer = Observer()
        let client = try FCMClient(
            service.configuration(name: "chat"), logHandler: observer, metricsFactory: observer)
        let result = try await client.send(try Self.hello.get(), to: try MessagingService.token(1))
        guard case .rejected(let rejection) = result.outcome else {
            Issue.record("not rejected: \(result)")
            return
        }
        #expect(rejection.remedy == .correctKey && !rejection.isPermanent && !rejection.isTokenDead)
        #expect(rejection.errorCode.rawValue.isEmpty && rejection.description.contains("invalid_grant"))
        await client.close()
        let failure = observer.entries.withLock { $0.first { $0.message == "push.access-token.failed" } }
        #expect(failure?.level == .error && failure?.metadata["reason"]?.contains("invalid_grant") == true)
        #expect(observer.sums.withLock { $0 }["fcm_pushes_total app=chat outcome=rejected"] == 1)
        try await service.simulator.stop()
    }

    @Test("Configurations that cannot work are refused, each with what is wrong, and without secrets")
    func refusesConfigurations() async throws {
        let service = try await MessagingService()
        let good = service.configuration()
        let cases: [(PushError.Code, (inout FCMConfiguration) -> Void)] = [
            (.keyInvalid, { $0.serviceAccount = .file("/nonexistent/account.json") }),
            (.keyInvalid, { $0.serviceAccount = .json("no JSON".utf8) }),
            (.keyInvalid, { $0.serviceAccount = .json(#"{"type":"authorized_user"}"#.utf8) }),
            (.configurationInvalid, { $0.projectID = "Chat 4711" }), (.configurationInvalid, { $0.projectID = "" }),
            (.configurationInvalid, { $0.endpoint = "a:b" }),
            (.configurationInvalid, { $0.proxyURL = "socks5://secret@proxy" }),
            (.configurationInvalid, { $0.extraTrustAnchorsFile = "/nonexistent/anchor.pem" }),
            (.configurationInvalid, { $0.timeout = .zero }),
        ]
        for (index, (expected, change)) in cases.enumerated() {
            var configuration = good
            change(&configuration)
            #expect(Self.code { _ = try FCMClient(configuration) } == expected, "case \(index)")
        }
        #expect(Self.code { _ = try FCMClient([]) } == .configurationInvalid)
        #expect(Self.code { _ = try FCMClient([good, good]) } == .configurationInvalid)
        let json = try MessagingService.account().credentialsJSON(tokenURI: "https://localhost/token")
        var text = ""
        dump(FCMServiceAccount.json(json.utf8), to: &text)
        #expect(!text.contains("BEGIN") && !"\(FCMServiceAccount.json(json.utf8))".contains("BEGIN"))
        try await service.simulator.stop()
    }

    @Test("What is no target is refused, and a target prints only its beginning")
    func readsTargets() throws {
        for text in ["", "a b", "ä", String(repeating: "a", count: 2_049)] {
            #expect(Self.code { _ = try FCMTarget(token: text) } == .tokenInvalid)
            #expect(Self.code { _ = try FCMTarget(fid: text) } == .tokenInvalid)
        }
        let target = try FCMTarget(token: "dQw4w9WgXcQ:APA91bF-token")
        #expect(target.value == "dQw4w9WgXcQ:APA91bF-token" && !"\(target)".contains("APA91bF"))
        #expect(target != (try FCMTarget(fid: "dQw4w9WgXcQ:APA91bF-token")))
    }
}
