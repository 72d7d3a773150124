import ChangeEvents
import DispatchCore
import Dispatcher
import Messages
import Metrics
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

@Suite("The way of a change of a record to the devices that subscribed to it", .timeLimit(.minutes(30)))
struct RecordPipelineTests {
    private func event(
        _ identifier: String, _ operation: String = "created", type: String = "Song", name: String = "r1",
        fields: String = "{\"artist\":\"Mei Chen\",\"price\":12}", extra: String = ""
    ) -> Message {
        TestEvents.message(
            TestEvents.record(identifier, operation, type: type, name: name, fields: fields, more: extra))
    }

    private func device(_ name: String, user: String) throws -> Device {
        Device(
            deviceID: name, platform: .apns, token: try #require(DeviceToken(bytes: Array(name.utf8))), app: "chat",
            userID: user, registeredAtMilliseconds: 0)
    }

    private func subscription(
        _ identifier: String, user: String = "anna", term: PredicateTerm? = nil,
        _ change: (inout RecordSubscription) -> Void = { _ in }
    ) throws -> RecordSubscription {
        let term = term ?? PredicateTerm("artist", .equals(.of("mei chen"), .caseInsensitive))
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user(user), subscriptionID: identifier), recordType: "Song",
            predicate: try Predicate(term), savedAtMilliseconds: 0)
        subscription.notification.alertBody = "{artist} costs {price}"
        change(&subscription)
        return subscription
    }

    /// Anna has two devices, Ben one.
    private func bench(
        _ transport: FakeTransport = FakeTransport(), limits: DispatchLimits = DispatchLimits()
    ) throws -> PipelineBench {
        let bench = try PipelineBench(transport: transport, limits: limits)
        try bench.registry().upsert([
            try device("a1", user: "anna"), try device("a2", user: "anna"), try device("b1", user: "ben"),
        ])
        return bench
    }

    private func names(_ bench: PipelineBench) -> [String] {
        bench.transport.requests.map { String(decoding: $0.token.bytes, as: UTF8.self) }.sorted()
    }

    private func payloads(_ bench: PipelineBench) -> [String] {
        bench.transport.requests.map { String(decoding: $0.content.payload, as: UTF8.self) }
    }

    @Test("A subscriber from a moment before the event is told, in words made of the record's fields")
    func tellsSubscribers() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            try subscription("s1"),
            try subscription("s2", user: "ben", term: PredicateTerm("price", .equals(.integer(13), .exact))),
        ])
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(names(bench) == ["a1", "a2"])
        #expect(bench.metrics.render().contains("\napus_subscriptions 2\n"))
        let payload = try #require(payloads(bench).first)
        #expect(payload.contains("\"alert\":\"Mei Chen costs 12\""))
        #expect(payload.contains("\"qry\":{\"dbs\":1,\"sid\":\"s1\",\"fo\":1,\"rid\":\"r1\""))
        #expect(try #require(bench.transport.requests.first).content.pushType == .alert)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 2 && ledger.isBalanced)
        bench.stop()
    }

    @Test("Of a subscription that somebody edited into one that never fits, a silent push goes out, counted by its app")
    func reducesWhatNeverFits() async throws {
        let bench = try bench()
        _ = try bench.registry().save([try subscription("s1") { $0.firesOnce = true }])
        let key = String(repeating: "k", count: 5_000)
        let connection = try bench.connection()
        try connection.execute("UPDATE subscription SET notification = '{\"alertLocalizationKey\":\"\(key)\"}'")
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(names(bench) == ["a1", "a2"])
        let request = try #require(bench.transport.requests.first)
        #expect(request.content.pushType == .background && request.content.payload.count <= 4_096)
        #expect(
            payloads(bench).first?.hasPrefix(#"{"aps":{"content-available":1},"ck":{"ce":2,"cid":"iCloud."#) == true)
        #expect(payloads(bench).first?.contains(#""p":1,"qry":{"dbs":1,"sid":"s1","fo":1,"rid":"r1"}"#) == true)
        #expect(bench.metrics.render().contains("\napus_pushes_reduced_total{app=\"chat\",service=\"apns\"} 2\n"))
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == 2 && ledger.deadLettered == 0 && ledger.isBalanced)
        bench.stop()
    }

    @Test("A subscription that was removed before the event is not told")
    func forgetsRemoved() async throws {
        let bench = try bench()
        let registry = try bench.registry()
        _ = try registry.save([try subscription("s1")])
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(try registry.removeSubscription(try subscription("s1").key))
        bench.broker.deliver([event("2")])
        await bench.broker.wait { $0.settledTags.count == 2 }
        #expect(bench.transport.requests.count == 2)
        bench.stop()
    }

    @Test("The device that made the change is left out, and operations that were not asked for are as well")
    func leavesOutOriginAndOperations() async throws {
        let bench = try bench()
        _ = try bench.registry().save([try subscription("s1") { $0.firesOn = [.created, .deleted] }])
        bench.broker.deliver([
            event("1", extra: ",\"deviceId\":\"a1\""), event("2", "updated"), event("3", "deleted", type: "Album"),
        ])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(names(bench) == ["a2"])
        bench.stop()
    }

    @Test("Two visible subscriptions of a device give two pushes with different identifiers, two silent ones give one")
    func pushesForEachSubscription() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            try subscription("v1", user: "ben"), try subscription("v2", user: "ben"),
            try subscription("q1", user: "ben") { $0.notification = NotificationInfo() },
            try subscription("q2", user: "ben") { $0.notification.alertBody = nil },
        ])
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let requests = bench.transport.requests
        #expect(requests.filter { $0.content.pushType == .alert }.count == 2)
        let silent = requests.filter { $0.content.pushType == .background }
        #expect(silent.count == 1 && silent.first?.content.priority == .conserving)
        #expect(Set(requests.map(\.apnsID)).count == 3)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.matched == 4 && ledger.coalesced == 1 && ledger.accepted == 3 && ledger.isBalanced)
        bench.stop()
    }

    @Test("Private records are heard of by their owner only, zones by those who asked for them")
    func respectsDatabasesAndZones() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            try subscription("p1") { $0.database = .private },
            try subscription("p2", user: "ben") { $0.database = .private },
            try subscription("z", user: "ben") {
                $0.kind = .zone
                $0.database = .private
                $0.zoneName = "Music"
                $0.recordType = nil
                $0.predicate = .always
            },
        ])
        bench.broker.deliver([event("1")])
        bench.broker.deliver([event("2", extra: ",\"database\":\"private\",\"ownerId\":\"ben\"")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(names(bench) == ["b1"])
        let zoned = ",\"database\":\"private\",\"ownerId\":\"ben\",\"zoneName\":\"Music\""
        bench.broker.deliver([event("3", type: "Album", extra: zoned)])
        await bench.broker.wait { $0.settledTags.count == 3 }
        #expect(names(bench) == ["b1", "b1"])
        #expect(
            payloads(bench).last?.contains("\"fet\":{\"dbs\":2,\"sid\":\"z\",\"zid\":\"Music\",\"zoid\":\"ben\"}")
                == true)
        bench.stop()
    }

    @Test("A subscription that fires once is pushed for one event, and for the redelivery of that event")
    func firesOnce() async throws {
        let bench = try bench()
        _ = try bench.registry().save([try subscription("once", user: "ben") { $0.firesOnce = true }])
        bench.broker.deliver((0..<20).map { event("\($0)") })
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.count == 1)
        let first = try #require(bench.transport.requests.first).apnsID
        bench.broker.deliver((0..<20).map { event("\($0)") }, isRedelivered: true)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.transport.requests.map(\.apnsID) == [first, first])
        bench.stop()
    }

    @Test(
        "What fails is retried for its subscription and device alone, although the subscription has gone from the index"
    )
    func retriesForSubscription() async throws {
        let bench = try bench(
            FakeTransport { request, attempt in
                let fails = attempt == 1 && request.token.bytes == Array("a2".utf8)
                return .answered(PushAnswer(status: fails ? 503 : 200, reason: fails ? "ServiceUnavailable" : ""))
            })
        _ = try bench.registry().save([
            try subscription("s1") { $0.firesOnce = true }, try subscription("s2", user: "ben"),
        ])
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.requeued(in: "apus.retry.1s").count == 1 }
        bench.broker.deliverQueued(in: "apus.retry.1s")
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(names(bench) == ["a1", "a2", "a2", "b1"])
        let identifiers = bench.transport.requests.filter { $0.token.bytes == Array("a2".utf8) }.map(\.apnsID)
        #expect(Set(identifiers).count == 1)
        #expect(try await bench.dispatch.pushCounts()[0].isBalanced)
        bench.stop()
    }

    @Test("An event counts once on a badge, for two subscriptions as for one, and when it is delivered again")
    func countsEventsOnce() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            try subscription("s1", user: "ben") { $0.notification.shouldBadge = true },
            try subscription("s2", user: "ben") { $0.notification.shouldBadge = true },
        ])
        for (count, identifier) in ["1", "2", "1", "2"].enumerated() {
            bench.broker.deliver([event(identifier)])
            await bench.broker.wait { $0.settledTags.count == count + 1 }
        }
        #expect(payloads(bench).count == 8)
        #expect(payloads(bench).prefix(2).allSatisfy { $0.contains("\"badge\":1") })
        #expect(payloads(bench).dropFirst(2).allSatisfy { $0.contains("\"badge\":2") })
        #expect(try bench.registry().badge(of: "b1") == 2)
        bench.stop()
    }

    @Test("A claim whose answer is lost is found again when the event is admitted again, so that its push is sent")
    func claimWithoutAnswer() async throws {
        let registry = InMemoryRegistry()
        try registry.upsert([try device("b1", user: "ben")])
        _ = try registry.save([try subscription("once", user: "ben") { $0.firesOnce = true }])
        registry.failureAfterClaim = RegistryError(.unavailable, "the connection was lost at the commit")
        let bench = try PipelineBench(transport: FakeTransport(), registry: registry)
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.settledTags.count == 1 }
        #expect(names(bench) == ["b1"])
        bench.broker.deliver([event("2")])
        await bench.broker.wait { $0.settledTags.count == 2 }
        #expect(names(bench) == ["b1"])
        bench.stop()
    }

    @Test("A badge counts up on each device, and starts again from what the app says")
    func countsBadges() async throws {
        let bench = try bench()
        _ = try bench.registry().save([try subscription("s1") { $0.notification.shouldBadge = true }])
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.settledTags.count == 1 }
        #expect(try bench.registry().setBadge(0, of: "a2"))
        bench.broker.deliver([event("2")])
        await bench.broker.wait { $0.settledTags.count == 2 }
        let badges = zip(names(bench), payloads(bench)).map { _, payload in
            payload.contains("\"badge\":2") ? 2 : payload.contains("\"badge\":1") ? 1 : 0
        }
        #expect(badges.sorted() == [1, 1, 1, 2])
        bench.stop()
    }

    @Test("With several connections to the registry, records find their subscribers, and each event is pushed once")
    func usesSeveralConnections() async throws {
        var limits = DispatchLimits()
        limits.batchesAskedMaximum = 3
        let bench = try bench(limits: limits)
        _ = try bench.registry().save([try subscription("s", user: "ben")])
        for start in stride(from: 0, to: 1_000, by: 100) {
            bench.broker.deliver((start..<start + 100).map { PipelineBench.push($0) } + [event("record-\(start)")])
        }
        await bench.broker.wait { $0.settledTags.count == 1_010 }
        #expect(names(bench).filter { $0 == "b1" }.count == 10)
        let requests = bench.transport.requests
        #expect(requests.count == 1_010 && Set(requests.map(\.apnsID)).count == 1_010)
        bench.stop()
    }

    @Test(
        "An audience is served whole, or in pages if its batch has no room, each subscriber once",
        arguments: [4_096, 699])
    func servesPages(devicesPerBatchWanted: Int) async throws {
        var limits = DispatchLimits()
        limits.devicesPerBatchWanted = devicesPerBatchWanted
        let bench = try bench(limits: limits)
        let registry = try bench.registry()
        var devices: [Device] = []
        var subscriptions: [RecordSubscription] = []
        for number in 0..<700 {
            devices.append(try device("d\(number)", user: "user-\(number)"))
            subscriptions.append(try subscription("s", user: "user-\(number)"))
        }
        try registry.upsert(devices)
        _ = try registry.save(subscriptions)
        let pageCount = devicesPerBatchWanted < 700 ? 2 : 1
        bench.broker.deliver([event("1")])
        await bench.broker.wait { $0.requeued(in: "apus.fanout").count == pageCount - 1 && $0.settledTags.count == 1 }
        bench.broker.deliverQueued(in: "apus.fanout")
        await bench.broker.wait { $0.settledTags.count == pageCount && $0.unacknowledgedCount == 0 }
        #expect(names(bench) == devices.map(\.deviceID).sorted())
        bench.stop()
    }

    @Test("Events that find no room for their subscribers in their batch are looked up again, each push once")
    func looksUpAgainWithoutRoom() async throws {
        var limits = DispatchLimits()
        limits.devicesPerPageMaximum = 10
        limits.fanOutThresholdDevices = 30
        limits.devicesPerBatchWanted = 40
        let bench = try bench(limits: limits)
        let registry = try bench.registry()
        try registry.upsert(try (0..<25).map { try device("d\($0)", user: "user-\($0)") })
        _ = try registry.save(try (0..<25).map { try subscription("s", user: "user-\($0)") })
        bench.broker.deliver((0..<4).map { event("\($0)") })
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        #expect(bench.broker.requeued(in: "apus.fanout").isEmpty)
        let requests = bench.transport.requests
        #expect(requests.count == 100 && Set(requests.map(\.apnsID)).count == 100)
        bench.stop()
    }

    @Test("A text that is too long for APNs is shortened and marked, and the values that go along are left out first")
    func prunes() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            try subscription("s1", user: "ben") {
                $0.notification.alertBody = "{artist}: {text}"
                $0.notification.additionalFields = ["artist", "price"]
            }
        ])
        let long = String(repeating: "x", count: 5_000)
        bench.broker.deliver([event("1"), event("2", fields: "{\"artist\":\"Mei Chen\",\"text\":\"\(long)\"}")])
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        let texts = payloads(bench)
        #expect(texts[0].contains("\"af\":{\"artist\":\"Mei Chen\",\"price\":12}") && !texts[0].contains("\"p\":1"))
        #expect(texts[1].contains("\"p\":1") && texts[1].contains("…") && !texts[1].contains("\"af\""))
        #expect(texts[1].utf8.count <= 4_096)
        bench.stop()
    }

    @Test("A change of a private record without an owner is refused with a reason")
    func refusesOwnerless() async throws {
        let bench = try bench()
        bench.broker.deliver([event("1", extra: ",\"database\":\"private\"")])
        await bench.broker.wait { $0.requeued(in: "apus.dead-letter").count == 1 && $0.unacknowledgedCount == 0 }
        let headers = try #require(bench.broker.requeued(in: "apus.dead-letter").first).headers
        #expect(headers.contains { $0.name == RetryHeader.reason && $0.value == .string("missing-field") })
        bench.stop()
    }

    @Test(
        "Two thousand times: subscribe and publish at once, and none is missed; unsubscribe and publish, none is sent")
    func neverMissesNorHaunts() async throws {
        let bench = try bench()
        let registry = try bench.registry()
        let fields = (0..<2_000).map { "{\"round\":\($0)}" }
        // Fifty at a time: each step hands over to the thread of the worker, which costs more than the step.
        for start in stride(from: 0, to: fields.count, by: 50) {
            let rounds = start..<start + 50
            let subscriptions = try rounds.map { round in
                try subscription(
                    "s\(round)", user: "ben", term: PredicateTerm("round", .equals(.integer(Int64(round)), .exact)))
            }
            _ = try registry.save(subscriptions)
            bench.broker.deliver(rounds.map { event("in-\($0)", fields: fields[$0]) })
            await bench.broker.wait { $0.settledTags.count == 2 * start + 50 }
            for subscription in subscriptions {
                #expect(try registry.removeSubscription(subscription.key))
            }
            bench.broker.deliver(rounds.map { event("out-\($0)", fields: fields[$0]) })
            await bench.broker.wait { $0.settledTags.count == 2 * start + 100 }
        }
        #expect(bench.transport.requests.count == 2_000)
        #expect(Set(bench.transport.requests.map(\.apnsID)).count == 2_000)
        bench.stop()
    }
}
