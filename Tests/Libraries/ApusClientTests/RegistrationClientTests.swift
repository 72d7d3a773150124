import ApusClient
import Foundation
import JSON
import PushTestKit
import RegistryAPI
import Synchronization
import TestTraits
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Registering with the API", .ownThread)
struct RegistrationClientTests {
    private static func client(
        _ registry: ServedRegistry, accessToken: (@Sendable (Bool) async throws -> String)? = nil
    ) -> RegistrationClient {
        let token = registry.accessToken
        return RegistrationClient(url: registry.url, accessToken: accessToken ?? { _ in token })
    }

    private static func installation() -> AppInstallation {
        var installation = AppInstallation(deviceID: "phone/1")
        installation.userID = "mei"
        installation.identityPoolID = ServedRegistry.pool
        installation.identityID = ServedRegistry.identity
        return installation
    }

    @Test("An installation is registered, subscribed, counted and removed, over a real connection")
    func life() async throws {
        let registry = try ServedRegistry()
        defer { registry.server.stop() }
        let client = Self.client(registry)
        var installation = Self.installation()
        installation.datasets = ["settings"]
        installation.topics = ["room 7"]
        try await client.register(installation, at: .apple(token: Data([0x00, 0xfc, 0x13]), isSandbox: true))
        try await client.subscribe(deviceID: "phone/1", toDataset: "drafts")
        try await client.unsubscribe(deviceID: "phone/1", fromDataset: "settings")
        try await client.subscribe(deviceID: "phone/1", toTopic: "news/1")
        try await client.unsubscribe(deviceID: "phone/1", fromTopic: "room 7")
        try await client.setBadge(3, deviceID: "phone/1")
        try await client.setToken(Data([0xab]), kind: "voip", deviceID: "phone/1")
        let device = try JSONParser().parse(registry.shown("/v1/devices/phone%2F1").body)
        #expect(device["platform"]?.string == "APNS_SANDBOX" && device["userId"]?.string == "mei")
        #expect(device["datasets"]?.array?.compactMap(\.string) == ["drafts"] && device["badge"]?.int64 == 3)
        #expect(device["tokens"]?["voip"] != nil)
        #expect(registry.shown("/v1/apps/chat/topics").body.contains(#""topic":"news/1""#))
        try await client.unregister(deviceID: "phone/1")
        try await client.unregister(deviceID: "phone/1")
        #expect(registry.shown("/v1/devices/phone%2F1").status == 404)
    }

    @Test("Subscriptions to records, zones and databases are saved as they are meant, and deleted")
    func interests() async throws {
        let registry = try ServedRegistry()
        defer { registry.server.stop() }
        let client = Self.client(registry)
        try await client.register(Self.installation(), at: .firebase(token: "fcm:token"))
        var songs = RecordInterest.records(ofType: "Song", where: "price <= 20")
        songs.changes = [.created]
        songs.firesOnce = true
        songs.notification.alertBody = "New: {title}"
        songs.notification.additionalFields = ["title"]
        try await client.save(songs, as: "songs", of: .device("phone/1"))
        let saved = try JSONParser().parse(registry.shown("/v1/devices/phone%2F1/subscriptions/songs").body)
        #expect(saved["predicate"]?.string == "price <= 20" && saved["firesOnce"]?.bool == true)
        #expect(saved["firesOn"]?.array?.compactMap(\.string) == ["created"])
        #expect(saved["notificationInfo"]?["alertBody"]?.string == "New: {title}")
        let mei = InterestOwner.user("mei", app: "chat")
        try await client.save(.zone("Music"), as: "zone", of: mei)
        try await client.save(.everything(in: .shared), as: "shared", of: mei)
        try await client.save(.records(ofType: "Note", in: .private), as: "notes", of: mei)
        let page = registry.shown("/v1/subscriptions?userId=mei").body
        #expect(page.contains(#""type":"zone""#) && page.contains(#""database":"shared""#))
        try await client.deleteSubscription("zone", of: mei)
        try await client.deleteSubscription("zone", of: mei)
        #expect(!registry.shown("/v1/subscriptions?userId=mei").body.contains(#""type":"zone""#))
        await #expect {
            try await client.save(.records(ofType: "Song", where: "price <="), as: "bad", of: mei)
        } throws: { error in
            guard let error = error as? RegistrationError else { return false }
            return error.code == .invalid && error.status == 400 && !error.isTemporary
                && error.description.hasPrefix("PUT /v1/apps/chat/users/mei/subscriptions/bad: 400 invalid: ")
        }
    }

    @Test("A refused access token is asked for once more, and then the error says what the API said")
    func accessTokens() async throws {
        let registry = try ServedRegistry()
        defer { registry.server.stop() }
        let asked = Mutex<[Bool]>([])
        let good = registry.accessToken
        let renewing = Self.client(registry) { isRefused in
            asked.withLock { $0.append(isRefused) }
            return isRefused ? good : "old"
        }
        try await renewing.register(Self.installation(), at: .amazon(registrationID: "adm"))
        #expect(asked.withLock { $0 } == [false, true])
        let hopeless = Self.client(registry) { _ in "unknown" }
        await #expect {
            try await hopeless.unregister(deviceID: "phone/1")
        } throws: { error in
            let error = error as? RegistrationError
            return error?.code == .unauthenticated && error?.status == 401 && error?.detail.isEmpty == false
        }
        struct SignedOut: Error {}
        let signedOut = Self.client(registry) { _ in throw SignedOut() }
        await #expect {
            try await signedOut.unregister(deviceID: "phone/1")
        } throws: { ($0 as? RegistrationError)?.code == .accessTokenMissing }
        await #expect {
            try await Self.client(registry).subscribe(deviceID: "nobody", toTopic: "a")
        } throws: { ($0 as? RegistrationError)?.code == .notFound }
    }

    @Test("Opened pushes are reported without an access token, and each counts once")
    func opened() async throws {
        let registry = try ServedRegistry()
        defer { registry.server.stop() }
        let address = DeviceAddress.apple(token: Data([0x00, 0xfc]), isSandbox: false)
        try await Self.client(registry).register(Self.installation(), at: address)
        let client = Self.client(registry) { _ in throw CancellationError() }
        let receipts = [registry.receipt(1), registry.receipt(2, daysAgo: 91), "none", registry.receipt(1)]
        #expect(
            try await client.reportOpened(receipts, deviceID: "phone/1", at: address)
                == [.counted, .expired, .invalid, .repeated])
        #expect(
            try await client.reportOpened([receipts[0]], deviceID: "phone/1", at: .firebase(token: "other"))
                == [.unknownDevice])
        let many = (0..<250).map { registry.receipt($0) }
        let results = try await client.reportOpened(many, deviceID: "phone/1", at: address)
        #expect(results.count == 250 && results.count { $0 == .counted } == 249 && results[1] == .repeated)
        #expect(try await client.reportOpened([], deviceID: "phone/1", at: address) == [])
        let shown = registry.shown("/v1/campaigns/chat/spring").body
        #expect(shown.contains(#""platform":"APNS""#) && shown.contains(#""opened":250"#), "\(shown)")
        await #expect {
            try await client.reportOpened(["a"], deviceID: "", at: address)
        } throws: { ($0 as? RegistrationError)?.code == .invalid }
    }

    /// A client whose answers a test says, and whose pauses are noted.
    private static func scripted(
        _ answers: [(status: Int, retryAfter: String?, body: String)?], pauses: Pauses,
        path: String = "devices/d/topics/a%2Fb", token: String? = "Bearer token"
    ) throws -> (RegistrationClient, requests: @Sendable () -> Int) {
        let url = try #require(URL(string: "https://push.example.com/relay/"))
        let sent = Counter()
        let client = RegistrationClient(
            url: url, settings: RetrySettings(), accessToken: { _ in "token" },
            exchange: { request in
                #expect(request.value(forHTTPHeaderField: "Authorization") == token)
                #expect(request.url?.absoluteString == "https://push.example.com/relay/v1/\(path)")
                let index = sent.next()
                guard let answer = answers[min(index, answers.count - 1)], let url = request.url else {
                    throw URLError(.notConnectedToInternet)
                }
                let fields = answer.retryAfter.map { ["Retry-After": $0] }
                return (
                    Data(answer.body.utf8),
                    HTTPURLResponse(url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: fields)
                )
            }, pause: { seconds in pauses.append(seconds) })
        return (client, { sent.count })
    }

    /// Pauses that take no time.
    private final class Pauses: Sendable {
        private let seconds = Mutex<[Double]>([])
        var all: [Double] { seconds.withLock { $0 } }
        func append(_ pause: Double) { seconds.withLock { $0.append(pause) } }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func next() -> Int {
            value.withLock { value in
                value += 1
                return value - 1
            }
        }
    }

    @Test("What fails for a while is sent again after a pause, and the last answer is told")
    func retries() async throws {
        let busy = #"{"status":503,"code":"busy","detail":"come again"}"#
        let pauses = Pauses()
        let (client, requests) = try Self.scripted(
            [nil, (429, "2", ""), (503, "1", busy), (204, nil, "")], pauses: pauses)
        try await client.subscribe(deviceID: "d", toTopic: "a/b")
        #expect(requests() == 4 && pauses.all.count == 3)
        #expect((0.5...1).contains(pauses.all[0]) && (3...4).contains(pauses.all[1]) && (3...5).contains(pauses.all[2]))
        let (failing, attempts) = try Self.scripted([(503, "1", busy)], pauses: Pauses())
        await #expect {
            try await failing.subscribe(deviceID: "d", toTopic: "a/b")
        } throws: { error in
            guard let error = error as? RegistrationError else { return false }
            return error.code == .serverFailed && error.detail == "come again" && error.retryAfterSeconds == 1
                && error.isTemporary
        }
        #expect(attempts() == 5)
        let (unreachable, _) = try Self.scripted([nil], pauses: Pauses())
        await #expect {
            try await unreachable.subscribe(deviceID: "d", toTopic: "a/b")
        } throws: { error in
            let error = error as? RegistrationError
            return error?.code == .unreachable && error?.status == nil && error?.detail.isEmpty == false
        }
    }

    @Test("A report of opened pushes is sent again as any request, and an answer in words to come is taken")
    func retriedReport() async throws {
        let address = DeviceAddress.firebase(token: "fcm:token")
        let pauses = Pauses()
        let (client, requests) = try Self.scripted(
            [nil, (429, "2", ""), (503, nil, ""), (200, nil, #"{"results":["counted","new"],"more":1}"#)],
            pauses: pauses, path: "opens", token: nil)
        #expect(
            try await client.reportOpened(["a", "b", "c"], deviceID: "d", at: address)
                == [.counted, .invalid, .invalid])
        #expect(requests() == 4 && pauses.all.count == 3)
        let (refused, attempts) = try Self.scripted(
            [(401, nil, "")], pauses: pauses, path: "opens", token: nil)
        await #expect {
            try await refused.reportOpened(["a"], deviceID: "d", at: address)
        } throws: { ($0 as? RegistrationError)?.code == .unauthenticated }
        #expect(attempts() == 1)
    }
}
