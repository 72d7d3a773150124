import AdminServer
import Backoffice
import ChangeEvents
import Crypto
import Dispatch
import DispatchCore
import Essentials
import HTTPServer
import JSON
import Messages
import Notifications
import OperatorPage
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import StructuredLogging
import Synchronization
import Testing

/// A page on an admin server, over a registry of its own and a broker that only takes notes.
final class PageFixture: Sendable {
    static let now: Int64 = 1_700_000_000_000
    let folder: TemporaryFolder
    let broker = NotingBroker()
    private let page: OperatorPage
    private let server: AdminServer

    init(_ change: (inout OperatorPageConfiguration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        let path = folder.path + "/registry.db"
        _ = try SQLiteRegistry.open(path: path, mode: .create)
        var configuration = OperatorPageConfiguration(path: "/ui", process: "test-1", version: "1.2.3")
        configuration.apps = [
            PipelineConfiguration.App(
                route: AppRoute(
                    index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1,
                    courierRoute: 2), identityPoolIDs: [TestEvents.pool])
        ]
        change(&configuration)
        let page = try OperatorPage(
            configuration,
            openRegistry: { () throws(RegistryError) in try SQLiteRegistry.open(path: path, mode: .existing) },
            broker: broker, logger: .silent)
        self.page = page
        let routes = AdminRoutes(
            liveness: { [] }, readiness: { [] }, metrics: { _ in "" }, product: "apus", version: "1.2.3")
        server = try AdminServer(
            host: "127.0.0.1", port: 0, routes: routes,
            page: AdminPage(handler: page, bodyBytesMaximum: OperatorPage.bodyBytesMaximum) { page.serves($0) })
    }

    /// The registry, on a connection of the test's own.
    func registry() throws -> SQLiteRegistry {
        try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .existing)
    }

    func stop() {
        server.stop()
        page.stop()
    }

    // MARK: Requests

    /// Sends a request with header fields, and a body of JSON if one is given.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], json: String? = nil,
        from source: String? = nil
    ) async -> PlainHTTP.Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        var fields = fields
        if fields["Host"] == nil { fields["Host"] = "localhost:\(server.port)" }
        if let json {
            if fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
            head += "Content-Length: \(json.utf8.count)\r\n"
        }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        let text = head + "\r\n" + (json ?? "")
        let port = server.port
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "request").async {
                continuation.resume(returning: PlainHTTP.exchange(text, port, from: source))
            }
        }
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async -> PlainHTTP.Answer {
        await send("GET", "/ui/api/\(path)", fields)
    }

    func post(_ path: String, _ json: String, _ fields: [String: String] = [:]) async -> PlainHTTP.Answer {
        await send("POST", "/ui/api/\(path)", fields, json: json)
    }

    /// The fields of a request with a name and a password.
    static func basic(_ name: String, _ password: String) -> [String: String] {
        ["Authorization": "Basic \(Base64.encode(Array("\(name):\(password)".utf8)))"]
    }

    // MARK: Content

    /// Adds dead letters, and gives their identifiers in order.
    @discardableResult
    func addLetters(
        _ reasons: [String], body: String = TestEvents.invalid, devices: [String] = []
    ) throws -> [String] {
        let reader = DeadLetterReader(digest: SHA256Digest.digest)
        let letters = reasons.enumerated().map { index, reason in
            var message = Message(body: Array(body.utf8))
            message.properties.contentType = "application/cloudevents+json"
            message.properties.messageID = "m-\(index)-\(UInt64.random(in: .min ... .max))"
            message.headers = [
                MessageHeader(RetryHeader.reason, .string(reason)),
                MessageHeader(RetryHeader.detail, .string("Because of \(reason).")),
                MessageHeader(RetryHeader.app, .string("chat")),
                MessageHeader(RetryHeader.firstSeenMilliseconds, .int64(Self.now)),
            ]
            if !devices.isEmpty {
                message.headers.append(
                    MessageHeader(RetryHeader.devices, .array(devices.map { .string($0) })))
            }
            return reader.read(message, publishedTo: "", nowMilliseconds: Self.now + Int64(index))
        }
        _ = try registry().addDeadLetters(letters)
        return letters.map(\.summary.identifier)
    }
}

extension TestEvents {
    /// A requested push with a secret text and a token.
    static let invalid = """
        {"specversion":"1.0","id":"e-1","source":"/shop","type":"push.requested","data":{"app":"chat",\
        "deviceTokens":["\(TestDevices.token(7))"],"notification":{"title":"Secret","body":"secret text"}}}
        """
}

extension PlainHTTP.Answer {
    /// The code of the error; empty if it is none.
    var errorCode: String {
        (try? JSONParser().parse(body))?["error"]?["code"]?.string ?? ""
    }
}

/// A broker that notes what it is asked, and works with the registry as the real one does.
final class NotingBroker: PageBroker {
    struct Notes {
        var replayed: [DeadLetterSelection] = []
        var purged: [DeadLetterSelection] = []
        var published: [String] = []
        var looksCount = 0
        var problem: String?
    }

    let notes = Mutex(Notes())

    private func check() throws {
        if let problem = notes.withLock({ $0.problem }) { throw PageBrokerError(problem) }
    }

    func queues() async throws -> PageQueues {
        try check()
        notes.withLock { $0.looksCount += 1 }
        var retry = PageQueues.Queue(name: "apus.retry.30s", kind: .retry, readyCount: 3, consumerCount: 0)
        retry.delayMilliseconds = 30_000
        return PageQueues(
            [
                PageQueues.Queue(name: "apus.work", kind: .work, readyCount: 12, consumerCount: 2), retry,
                PageQueues.Queue(name: "apus.dead-letter", kind: .deadLetter, readyCount: 7, consumerCount: 0),
            ], isFromManagement: false)
    }

    func collect(_ progress: @escaping @Sendable (PageTally) -> Void) async throws -> PageTally {
        try check()
        return PageTally(doneCount: 7)
    }

    func replay(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally {
        try check()
        notes.withLock { $0.replayed.append(selection) }
        return PageTally(doneCount: 1)
    }

    func purge(
        _ selection: DeadLetterSelection, _ progress: @escaping @Sendable (PageTally) -> Void
    ) async throws -> PageTally {
        try check()
        notes.withLock { $0.purged.append(selection) }
        return PageTally(doneCount: 1)
    }

    func publish(_ event: [UInt8], type: String) async throws {
        try check()
        notes.withLock { $0.published.append(String(decoding: event, as: UTF8.self)) }
    }
}
