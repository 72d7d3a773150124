import Backoffice
import ChangeEvents
import DispatchCore
import Messages
import Notifications
import PostgreSQL
import PostgresRegistry
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

/// Registries that are moved from one kind of store into another.
struct RegistryCopyTests {
    /// Both ways, and between stores of one kind.
    enum Way: CaseIterable {
        case intoPostgreSQL
        case intoSQLite
        case withinSQLite
    }

    /// The error by which a test ends a copy.
    private struct Interruption: Error {}

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStores(_ way: Way) async throws -> (source: any RegistryCopy.Store, target: any RegistryCopy.Store)
    {
        let file = try SQLiteRegistry.open(path: folder.path + "/a.db", mode: .create)
        switch way {
        case .intoPostgreSQL: return (file, try await Fixture.makeRegistry())
        case .intoSQLite: return (try await Fixture.makeRegistry(), file)
        case .withinSQLite: return (file, try SQLiteRegistry.open(path: folder.path + "/b.db", mode: .create))
        }
    }

    /// A device of any service, with an address of any size.
    private static func device(_ number: Int) throws -> Device {
        var device = try Fixture.device(number, identity: "identity:\(number / 3)")
        device.userID = number % 4 == 0 ? nil : "user-\(number / 2) ü"
        device.platform = Platform.allCases[number % 6]
        if device.platform.hasTextTokens {
            device.token = try SampleAddress.make(
                device.platform, "\(number)", bytes: [20, 300, 2_048][number % 3],
                isInstallationID: number % 4 == 0, generation: UInt8(number & 0xff),
                expiresAtMilliseconds: number % 5 == 0 ? nil : 1_900_000_000_000 + Int64(number))
        }
        if number % 7 == 0 {
            device.identityID = nil
            device.identityPoolID = nil
        }
        return device
    }

    /// Fills a registry with something of everything.
    private func fill(_ registry: any RegistryCopy.Store, devices count: Int) throws {
        try registry.register(
            try (0..<count).map { number in
                let device = try Self.device(number)
                let names = device.identityID == nil ? [] : ["settings", "set-\(number % 5)"].prefix(number % 3)
                return DeviceRegistration(
                    device: device, datasetNames: Array(names), topics: number % 5 == 0 ? ["news", "töpic"] : [])
            })
        try registry.recordDatasets(
            (0..<count / 2).map { number in
                DatasetKey(
                    identityPoolID: Fixture.pool, identityID: "identity:\(number)", datasetName: "set-\(number % 3)")
            })
        for number in stride(from: 1, to: count, by: 10) where number % 7 != 0 {
            _ = try registry.subscribeToAllDatasets("device-\(number)", names: nil, includingFuture: true)
            _ = try registry.unsubscribe("device-\(number)", fromDataset: "settings")
            _ = try registry.setBadge(number, of: "device-\(number)")
        }
        let reached = try (0..<count).filter { number in
            try registry.device("device-\(number)")?.platform.isAPNs == true && number % 4 == 1
        }
        try registry.saveTokens(
            try reached.flatMap { number in
                try [TokenKind.voip, .widgets].map { kind in
                    FurtherToken(
                        deviceID: "device-\(number)", kind: kind,
                        token: try #require(DeviceToken(bytes: Array("\(kind) \(number)".utf8))),
                        registeredAtMilliseconds: Int64(number))
                }
            })
        for number in 0..<count / 4 {
            try registry.subscribeUser("user-\(number) ü", app: "chat", toTopic: "room-\(number % 6)")
        }
        _ = try registry.save(
            (0..<count).map { number in
                let owner: SubscriptionOwner =
                    number % 2 == 0 ? .user("user-\(number)") : .device("device-\(number)")
                var notification = NotificationInfo()
                notification.alertBody = "\(number % 3) \"ü\""
                return RecordSubscription(
                    key: SubscriptionKey(app: "chat", owner: owner, subscriptionID: "s\(number)"), recordType: "Song",
                    firesOnce: number % 5 == 0, notification: notification, savedAtMilliseconds: Int64(number))
            })
        _ = try registry.addDeadLetters(
            (0..<count).map { number in
                var summary = DeadLetterSummary(
                    identifier: String(repeating: "0", count: 32 - "\(number)".count) + "\(number)", reason: "test",
                    deadLetteredMilliseconds: Int64(number), bodySizeBytes: 1)
                summary.eventIdentifier = "\(number) ü"
                return DeadLetter(summary: summary, message: Message(body: [UInt8(number & 0xff)]))
            })
        for number in 0..<3 {
            try registry.saveToken(
                APIToken(
                    name: "token-\(number)", digest: Array(repeating: UInt8(number), count: 32),
                    app: number == 0 ? nil : "chat", permission: .write, createdAtMilliseconds: 5))
            try registry.savePoolConfiguration(Array("{\"ü\":\(number)}".utf8), of: "pool-\(number)")
        }
    }

    @Test("The key of the servers goes along, unless the target has one", arguments: Way.allCases)
    func courierKey(_ way: Way) async throws {
        let (source, target) = try await makeStores(way)
        #expect(try source.storedCourierKey() == nil)
        #expect(try !RegistryCopy(from: source, to: target).run().keepsOtherCourierKey)
        #expect(try target.storedCourierKey() == nil)
        let key = try source.courierKey()
        #expect(try source.courierKey() == key)
        #expect(try source.keepCourierKey(.random()) == key)
        #expect(try !RegistryCopy(from: source, to: target).run().keepsOtherCourierKey)
        #expect(try target.storedCourierKey() == key)
        #expect(try !RegistryCopy(from: source, to: target).run().keepsOtherCourierKey)
        let third = try await makeScratch()
        let other = try third.courierKey()
        #expect(try RegistryCopy(from: source, to: third).run().keepsOtherCourierKey)
        #expect(try third.storedCourierKey() == other)
    }

    /// Everything that a registry says of itself.
    private func content(_ registry: any RegistryCopy.Store) throws -> [String] {
        var lines: [String] = []
        lines += try registry.deviceRecords(after: nil, limit: 10_000).map { record in
            let (token, details) = (record.device.token, record.device.token.details)
            let end = details?.expiresAtMilliseconds ?? 0
            return "\(record) \(token.bytes) \(String(describing: details?.webPushKeys)) \(end)"
        }
        lines += try registry.knownDatasets(after: nil, limit: 10_000)
            .map { "\($0.identityID) \($0.identityPoolID) \($0.datasetName)" }
        lines += try registry.topicUsers(after: nil, limit: 10_000).map { "\($0)" }
        let subscriptions = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10_000)
        lines += subscriptions.map { "\($0.subscription)" }.sorted()
        lines += try registry.tokens().map { "\($0)" }
        lines += try registry.poolConfigurations().map { "\($0)" }
        for letter in try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10_000) {
            let message = try registry.deadLetterMessages([letter.number])
            lines.append("\(letter.identifier) \(letter.eventIdentifier ?? "") \(message[letter.number]?.body ?? [])")
        }
        for topic in ["news", "töpic"] + (0..<6).map({ "room-\($0)" }) {
            let request = AudienceRequest(audience: .topic(topic, app: "chat"))
            lines.append("\(try RegistryPages.all(of: request, in: registry, limit: 999).map(\.deviceID).sorted())")
        }
        return lines
    }

    @Test("A copy holds all that the original holds, and copying again writes nothing", arguments: Way.allCases)
    func copiesEverything(_ way: Way) async throws {
        let (source, target) = try await makeStores(way)
        try fill(source, devices: 120)
        let pauses = ["chat", nil].map { AppPause(app: $0, reason: "moving", user: "mei", atMilliseconds: 1) }
        for pause in pauses { try source.setPause(pause) }
        let kept = AppPause(app: "chat", reason: "its own", user: "mei", atMilliseconds: 2)
        try target.setPause(kept)
        let first = try RegistryCopy(from: source, to: target, stepCount: 17).run()
        #expect(try content(target) == content(source))
        #expect(try target.pauses() == [pauses[1], kept])
        #expect(first.read[.devices] == 120 && first.written[.devices] == 120)
        #expect(first.read[.subscriptions] == 120 && first.written[.subscriptions] == 120)
        let second = try RegistryCopy(from: source, to: target, stepCount: 1_000).run()
        #expect(second.written.values.allSatisfy { $0 == 0 }, "\(second)")
        #expect(second.read == first.read)
    }

    @Test("A copy that was interrupted goes on where it was, after any step", arguments: Way.allCases)
    func resumes(_ way: Way) async throws {
        let (source, target) = try await makeStores(way)
        try fill(source, devices: 60)
        let whole = try RegistryCopy(from: source, to: try await makeScratch(), stepCount: 10).run()
        var written = 0
        var isDone = false
        var rounds = 0
        while !isDone {
            rounds += 1
            var steps = 0
            var last = RegistryCopyCounts()
            let copy = RegistryCopy(from: source, to: target, stepCount: 10) { counts in
                steps += 1
                last = counts
                if steps == rounds * 4 { throw Interruption() }
            }
            do {
                last = try copy.run()
                isDone = true
            } catch is Interruption {}
            written += last.written.values.reduce(0, +)
        }
        #expect(rounds > 2)
        #expect(written == whole.written.values.reduce(0, +), "nothing is written twice")
        #expect(try content(target) == content(source))
    }

    private func makeScratch() async throws -> any RegistryCopy.Store {
        try SQLiteRegistry.open(path: folder.path + "/scratch.db", mode: .create)
    }

    @Test("What has changed since is copied the next time, also what has ended", arguments: Way.allCases)
    func copiesChanges(_ way: Way) async throws {
        let (source, target) = try await makeStores(way)
        try fill(source, devices: 60)
        _ = try RegistryCopy(from: source, to: target).run()
        _ = try source.unsubscribe("device-5", fromTopic: "news")
        _ = try source.subscribeToAllDatasets("device-1", names: nil, includingFuture: false)
        _ = try source.setBadge(77, of: "device-2")
        _ = try source.removeToken(.voip, of: "device-13")
        var moved = try Fixture.device(8, identity: "another:0")
        moved.userID = "user-1 ü"
        try source.upsert([moved])
        let changed = try RegistryCopy(from: source, to: target).run()
        #expect(changed.written[.devices] == 5)
        #expect(try content(target) == content(source))
    }

    @Test("A device keeps what it declined, although it waits for datasets to come", arguments: Way.allCases)
    func keepsWhatWasDeclined(_ way: Way) async throws {
        let (source, target) = try await makeStores(way)
        try source.register([DeviceRegistration(device: try Fixture.device(1), datasetNames: ["settings", "notes"])])
        _ = try source.subscribeToAllDatasets("device-1", names: nil, includingFuture: true)
        _ = try source.unsubscribe("device-1", fromDataset: "settings")
        _ = try RegistryCopy(from: source, to: target).run()
        let expected = DatasetSubscriptions(datasetNames: ["notes"], includesFuture: true)
        #expect(try target.datasetSubscriptions(of: "device-1") == expected)
    }

    @Test(
        "A name that is not accepted any more stops the copy, which says where it is, what the rule is and what to do",
        arguments: [
            (
                "UPDATE device SET device_id = 'd' || char(1) WHERE device_id = 'device-5'",
                #"The device "d\u0001" cannot be copied"#, "apus device remove"
            ),
            (
                "UPDATE device SET user_id = 'u' || char(7) WHERE device_id = 'device-5'",
                #"The device "device-5" cannot be copied: The user "u\u0007" is invalid"#, "apus device remove"
            ),
            (
                "UPDATE topic SET name = char(10) WHERE name = 'room-1'",
                #"The topic "\n" of user "user-1 ü" cannot be copied"#, "apus topic unsubscribe"
            ),
            (
                "UPDATE subscription SET subscription_id = 's' || char(127) WHERE subscription_id = 's6'",
                #"The subscription "s\u007f" of user "user-6" cannot be copied"#, "apus subscription delete"
            ),
            (
                "UPDATE api_token SET name = 't' || char(27) WHERE name = 'token-1'",
                #"The token "t\u001b" cannot be copied"#, "apus registry token remove"
            ),
        ])
    func namesThatAreNotAccepted(change: String, name: String, command: String) async throws {
        let source = try SQLiteRegistry.open(path: folder.path + "/a.db", mode: .create)
        try fill(source, devices: 60)
        try source.connection.execute(change)
        let error = #expect(throws: RegistryError.self) {
            _ = try RegistryCopy(from: source, to: try SQLiteRegistry.open(path: folder.path + "/b.db", mode: .create))
                .run()
        }
        let message = try #require(error).message
        #expect(message.contains(name) && message.contains("without control characters"), "\(message)")
        #expect(message.hasSuffix("Remove it where it is copied from (\(command)), and copy again."), "\(message)")
    }

    // MARK: Dead letters that name rows

    /// A dead letter as a worker requeues it and a command collects it.
    private func letter(
        _ identifier: UInt8, type: String, _ change: (inout RetryState) -> Void
    ) -> DeadLetter {
        var message = Message(
            body: Array(
                #"{"specversion":"1.0","id":"\#(identifier)","source":"/test","type":"com.example.\#(type)"}"#.utf8))
        message.properties.contentType = "application/cloudevents+json"
        let fresh = Delivery(
            tag: DeliveryTag(epoch: 1, number: 1), deliveryClass: .interactive, isRedelivered: false,
            exchange: "apus.changes",
            routingKey: type, message: message)
        var retryState = RetryState(of: fresh, nowMilliseconds: 5)
        change(&retryState)
        let copy = retryState.requeuedCopy(of: message, reason: "attempts-exhausted", detail: "because")
        let reader = DeadLetterReader { _ in Array(repeating: identifier, count: 16) }
        return reader.read(copy, publishedTo: "", nowMilliseconds: 9)
    }

    @Test("Dead letters that name rows of their store are left out, each time, and all others are copied")
    func leavesOutRows() async throws {
        let (source, target) = try await makeStores(.withinSQLite)
        func chunk(after: AudienceCursor?, through: AudienceCursor?, _ subscriptions: [Int64]) -> FanOutChunkJob {
            FanOutChunkJob(
                fanOut: 4,
                chunk: FanOutChunk(
                    number: 1, after: after, through: through, subscriptions: subscriptions, deviceCount: 9))
        }
        let bound = [
            letter(1, type: "record.created") { $0.deviceIDs = ["17:a", "18:b"] },
            letter(2, type: "record.updated") {
                $0.cursor = AudienceCursor(position: 7, subscription: 3)
                $0.chunk = chunk(after: $0.cursor, through: AudienceCursor(position: 9, subscription: 3), [3])
            },
            letter(3, type: "record.deleted") { $0.chunk = chunk(after: nil, through: nil, [3, 4]) },
            letter(4, type: "push.requested") { $0.cursor = AudienceCursor(position: 7) },
            letter(5, type: "dataset.changed") {
                $0.chunk = chunk(after: nil, through: AudienceCursor(position: 9), [])
            },
        ]
        let free = [
            letter(16, type: "record.created") { _ in },
            letter(17, type: "push.requested") { $0.deviceIDs = ["17:a"] },
            letter(18, type: "dataset.changed") { $0.deviceIDs = ["a", "b"] },
        ]
        #expect(try source.addDeadLetters(bound + free) == 8)
        for _ in 0..<2 {
            let counts = try RegistryCopy(from: source, to: target).run()
            #expect(counts.read[.deadLetters] == 8)
            #expect(counts.deadLettersLeftOut == 5)
            #expect(counts.deadLettersLeftOutFirst == bound.map(\.summary.identifier))
            let copied = try target.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10)
            #expect(copied.map(\.identifier) == free.map(\.summary.identifier))
        }
    }

    @Test("A dead letter that was copied stays until it is purged, and comes back while the original is there")
    func keepsCopiedLetters() async throws {
        let (source, target) = try await makeStores(.withinSQLite)
        func numbers(_ store: any RegistryCopy.Store) throws -> [Int64] {
            try store.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 10).map(\.number)
        }
        _ = try source.addDeadLetters([letter(16, type: "record.created") { _ in }])
        _ = try RegistryCopy(from: source, to: target).run()
        _ = try target.removeDeadLetters(try numbers(target))
        #expect(try RegistryCopy(from: source, to: target).run().written[.deadLetters] == 1)
        _ = try source.removeDeadLetters(try numbers(source))
        _ = try RegistryCopy(from: source, to: target).run()
        #expect(try numbers(target).count == 1)
    }
}
