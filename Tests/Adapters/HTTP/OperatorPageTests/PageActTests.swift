import Backoffice
import ChangeEvents
import DispatchCore
import Essentials
import JSON
import Notifications
import OperatorPage
import Predicates
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Synchronization
import Testing

@Suite("What operators look at and do on the page")
struct PageActTests {
    private func parse(_ answer: PlainHTTP.Answer, _ status: Int = 200) throws -> JSONValue {
        try #require(answer.status == status, "\(answer)")
        return try JSONParser().parse(answer.body)
    }

    /// Waits until an action has ended, and gives it as text.
    private func ended(_ answer: PlainHTTP.Answer, _ fixture: PageFixture) async throws -> String {
        let number = try #require(try parse(answer, 202)["action"]?["number"]?.int64)
        return try await eventually("the action \(number) to end") {
            await fixture.get("actions/\(number)").body
        } until: {
            !$0.contains("\"running\"")
        }
    }

    // MARK: Dead letters

    @Test("Dead letters are listed by reason, app, type and time, page by page, and counted")
    func list() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        try fixture.addLetters(["no-token", "no-token", "expired", "invalid-json"])
        let first = try parse(await fixture.get("dead-letters?limit=3"))
        #expect(first["letters"]?.array?.count == 3)
        let next = try #require(first["next"]?.int64)
        let rest = try parse(await fixture.get("dead-letters?limit=3&after=\(next)"))
        #expect(rest["letters"]?.array?.count == 1 && rest["next"] == nil)
        for (filter, count) in [
            ("reason=no-token", 2), ("reason=no-token&app=shop", 0), ("app=chat", 4), ("type=push.requested", 4),
            ("eventId=e-1&source=/shop", 4), ("sinceMilliseconds=\(PageFixture.now + 2)", 2),
            ("untilMilliseconds=\(PageFixture.now + 2)", 2),
        ] {
            let counts = try parse(await fixture.get("dead-letters/counts?\(filter)"))
            #expect(counts["total"]?.int64 == Int64(count), "\(filter)")
            #expect(counts["waiting"]?.int64 == 7)
            let letters = try parse(await fixture.get("dead-letters?\(filter)"))
            #expect(letters["letters"]?.array?.count == count, "\(filter)")
        }
    }

    @Test("A letter shows whom it is for, and neither its text nor a whole token")
    func masked() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let identifier = try fixture.addLetters(["no-token"])[0]
        let body = await fixture.get("dead-letters/\(identifier)").body
        #expect(!body.contains("ecret") && !body.contains(TestDevices.token(7)))
        let letter = try JSONParser().parse(body)
        #expect(letter["isMasked"]?.bool == true)
        #expect(letter["letter"]?["id"]?.string == identifier)
        #expect(letter["event"]?["data"]?["app"]?.string == "chat")
        #expect(letter["event"]?["data"]?["notification"]?["title"]?.string == "•••")
        let token = letter["event"]?["data"]?["deviceTokens"]?.array?.first { _ in true }?.string
        #expect(token == TestDevices.token(7).prefix(4) + "…")
        #expect(letter["headers"]?["apus-reason"]?.string == "no-token")
        #expect(await fixture.get("dead-letters/00000000").status == 404)
    }

    @Test("Payloads are shown where the configuration allows it, and tokens are not")
    func shown() async throws {
        let fixture = try PageFixture { $0.showsPayloads = true }
        defer { fixture.stop() }
        let body = await fixture.get("dead-letters/\(try fixture.addLetters(["x"])[0])").body
        #expect(body.contains("secret text") && !body.contains(TestDevices.token(7)))
        let broken = await fixture.get("dead-letters/\(try fixture.addLetters(["y"], body: "not json")[0])").body
        #expect(broken.contains(#""bodyText":"not json""#))
    }

    @Test("What was previewed is what is done, whatever comes in between")
    func exactlyTheFilter() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        try fixture.addLetters(["no-token", "expired", "no-token"])
        let preview = try parse(
            await fixture.post("dead-letters/preview", #"{"action":"purge","filter":{"reason":"no-token"}}"#))
        #expect(preview["count"]?.int64 == 2 && preview["counts"]?.array?.count == 1)
        let token = try #require(preview["token"]?.string)
        try fixture.addLetters(["no-token"])
        let newest = try fixture.registry().newestDeadLetterNumber()
        func apply(_ action: String, _ count: Int, _ token: String) async -> PlainHTTP.Answer {
            await fixture.post(
                "dead-letters/apply", #"{"token":"\#(token)","action":"\#(action)","count":\#(count)}"#)
        }
        #expect(await apply("replay", 2, token).errorCode == "conflict")
        #expect(await apply("purge", 3, token).errorCode == "conflict")
        #expect(await apply("purge", 2, token.replacing("e", with: "f")).errorCode == "invalid")
        let action = try await ended(await apply("purge", 2, token), fixture)
        #expect(action.contains(#""state":"done""#) && action.contains(#""name":"dead-letters.purge""#))
        #expect(action.contains(#""user":"local""#) && action.contains(#""selected":2"#))
        #expect(action.contains(#""target":"reason=no-token""#))
        let selection = try #require(fixture.broker.notes.withLock { $0.purged.first })
        #expect(fixture.broker.notes.withLock { $0.replayed.isEmpty })
        var found: [Int64] = []
        try selection.forEachPage(in: try fixture.registry()) { page in
            found += page.map(\.number)
            return true
        }
        #expect(found.count == 2 && !found.contains(newest))
    }

    @Test("Letters that were named are replayed, without those that are gone meanwhile")
    func named() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let identifiers = try fixture.addLetters(["no-token", "expired"])
        let names = identifiers.map { "\"\($0)\"" }.joined(separator: ",")
        let preview = try parse(
            await fixture.post("dead-letters/preview", #"{"action":"replay","ids":[\#(names)]}"#))
        let token = try #require(preview["token"]?.string)
        let registry = try fixture.registry()
        _ = try registry.removeDeadLetters(
            try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 1).map(\.number))
        let body = #"{"token":"\#(token)","action":"replay","count":2}"#
        _ = try await ended(await fixture.post("dead-letters/apply", body), fixture)
        #expect(fixture.broker.notes.withLock { $0.replayed.first?.identifiers } == [identifiers[1]])
        _ = try registry.removeDeadLetters(
            try registry.deadLetters(matching: DeadLetterFilter(), after: 0, limit: 1).map(\.number))
        #expect(await fixture.post("dead-letters/apply", body).errorCode == "conflict")
    }

    @Test("A failure in the background is told by the action, with the reason")
    func failure() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        fixture.broker.notes.withLock { $0.problem = "connection refused" }
        let action = try await ended(await fixture.post("dead-letters/collect", "{}"), fixture)
        #expect(action.contains(#""state":"failed""#) && action.contains("connection refused"))
        let now = try parse(await fixture.get("now"))
        #expect(now["queues"]?["status"]?.string == "unavailable")
        #expect(now["queues"]?["reason"]?.string == "connection refused")
        #expect(now["problems"]?.array?.count == 1)
    }

    // MARK: Fan-outs, devices, tests

    @Test("A fan-out shows its progress, and is cancelled once")
    func fanOut() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let registry = try fixture.registry()
        let event = FanOutEvent(
            digest: EventDigest(source: "shop", identifier: "e1"), source: "shop", identifier: "e1",
            type: "push.requested", app: "chat")
        let fanOut = try registry.beginFanOut(event, planner: 1, nowMilliseconds: PageFixture.now)
        let end = AudienceCursor(position: 10)
        let chunks = [
            FanOutChunk(number: 1, after: nil, through: end, deviceCount: 2_000),
            FanOutChunk(number: 2, after: end, through: nil, deviceCount: 500),
        ]
        _ = try registry.planChunks(chunks, of: fanOut.number, planner: 1, nowMilliseconds: PageFixture.now)
        _ = try registry.chunksPublished(
            through: 2, of: fanOut.number, planner: 1, nowMilliseconds: PageFixture.now)
        let key = FanOutChunkKey(fanOut: fanOut.number, event: event.digest, chunk: 1)
        try registry.chunksEnded([FanOutChunkEnding(key, isCancelled: false)], nowMilliseconds: PageFixture.now)
        let list = try parse(await fixture.get("fan-outs"))
        let first = try #require(list["fanOuts"]?.array?.first { _ in true })
        #expect(first["progress"]?.double == 0.5 && first["state"]?.string == "planned")
        #expect(first["etaSeconds"]?.double ?? 0 > 0)
        let cancelled = try parse(await fixture.post("fan-outs/\(fanOut.number)/cancel", "{}"))
        #expect(cancelled["fanOut"]?["state"]?.string == "cancelled")
        #expect(await fixture.post("fan-outs/\(fanOut.number)/cancel", "{}").errorCode == "conflict")
        #expect(await fixture.post("fan-outs/99/cancel", "{}").errorCode == "not-found")
        let actions = try parse(await fixture.get("actions"))
        #expect(actions["actions"]?.array?.count == 1)
    }

    @Test("A device is found by its name, its user and its identity, with all that it is subscribed to")
    func find() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let device = try register(fixture)
        for query in ["kind=device&value=d-1", "kind=user&value=mei", "kind=identity&value=\(TestDevices.identity(1))"]
        {
            let found = try parse(await fixture.get("find?\(query)"))
            let first = try #require(found["devices"]?.array?.first { _ in true }, "\(query)")
            #expect(first["deviceId"]?.string == "d-1" && first["badge"]?.int64 == 0)
            #expect(first["token"]?.string == device.token.hexadecimal.prefix(4) + "…")
            #expect(first["topics"]?.array?.map { $0.string } == ["news"])
            #expect(first["datasets"]?.array?.map { $0.string } == ["notes"])
            #expect(found["notKept"]?.array?.isEmpty == false)
        }
        let none = try parse(await fixture.get("find?kind=device&value=nobody"))
        #expect(none["devices"]?.array?.isEmpty == true)
        #expect(await fixture.get("find?kind=token&value=x").errorCode == "invalid")
        #expect(await fixture.get("find?kind=apns-id&value=x").errorCode == "invalid")
        try fixture.addLetters(["no-token"])
        let event = try parse(await fixture.get("find?kind=event&value=e-1&source=/shop"))
        #expect(event["deadLetters"]?.array?.count == 1 && event["fanOuts"]?.array?.isEmpty == true)
    }

    @Test("Nothing is told for sure of a user with more subscriptions than are looked at")
    func explainsManySubscriptions() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        _ = try register(fixture)
        _ = try fixture.registry().save(
            try (0..<5_000).map { number in
                RecordSubscription(
                    key: SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: "s\(number)"),
                    recordType: "Song", predicate: try Predicate(parsing: "price < 20"),
                    savedAtMilliseconds: PageFixture.now)
            })
        let answer = try parse(await fixture.post("explain", #"{"deviceId":"d-1","event":\#(record(price: 30))}"#))
        #expect(answer["verdict"]?.string == "cannot-tell")
        #expect(answer["steps"]?.array.map { Array($0) }?.last?["ok"] == nil)
    }

    @Test("An apns-id is found by the dead letters that it would be sent for, of devices and of tokens")
    func findPush() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let device = try register(fixture)
        let other = try #require(DeviceToken(hexadecimal: TestDevices.token(2)))
        let letter = try fixture.addLetters(["too-old"], devices: ["d-1", "nobody", other.hexadecimal])[0]
        let identity = PushIdentity(source: "/shop", identifier: "e-1")
        for (token, names) in [(device.token, ["d-1"]), (other, [])] {
            let found = try parse(await fixture.get("find?kind=apns-id&value=\(identity.apnsID(for: token))"))
            #expect(found["deadLetters"]?.array?.map { $0["id"]?.string } == [letter])
            #expect(found["devices"]?.array?.map { $0["deviceId"]?.string ?? "" } == names)
        }
        let unknown = "123e4567-e89b-12d3-a456-42665544000a"
        let none = try parse(await fixture.get("find?kind=apns-id&value=\(unknown)"))
        #expect(none["deadLetters"]?.array?.isEmpty == true)
        #expect(none["notKept"]?.array?.first { _ in true }?.string?.contains(" 1 dead letters were searched") == true)
    }

    @Test("Each condition between an event and a device is explained, up to the first that does not hold")
    func explain() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        try register(fixture)
        let identity = TestDevices.identity(1)
        for (device, event, verdict, check) in [
            ("d-1", TestEvents.datasetChanged("e", identity: identity, syncCount: 1), "would-get", "order"),
            (
                "d-1", TestEvents.datasetChanged("e", identity: identity, dataset: "x", syncCount: 1), "would-not-get",
                "subscribed"
            ),
            (
                "d-1", TestEvents.datasetChanged("e", identity: TestDevices.identity(2), syncCount: 1), "would-not-get",
                "identity"
            ),
            (
                "d-1", TestEvents.datasetChanged("e", identity: identity, syncCount: 1, deviceID: "d-1"),
                "would-not-get", "origin"
            ),
            ("d-2", TestEvents.datasetChanged("e", identity: identity, syncCount: 1), "would-not-get", "registered"),
            ("d-1", push(#""topic":"news""#), "would-get", "addressed"),
            ("d-1", push(#""topic":"sport""#), "would-not-get", "addressed"),
            ("d-1", push(#""userIds":["mei"]"#), "would-get", "addressed"),
            ("d-1", push(#""deviceIds":["d-9"]"#), "would-not-get", "addressed"),
            ("d-1", push(#""deviceIds":["d-1"]"#, app: "shop"), "would-not-get", "event"),
            ("d-1", TestEvents.event("e", "no.such", "{}"), "would-not-get", "event"),
            ("d-1", record(price: 10), "would-get", "origin"),
            ("d-1", record(price: 30), "would-not-get", "subscribed"),
        ] {
            let answer = try parse(await fixture.post("explain", #"{"deviceId":"\#(device)","event":\#(event)}"#))
            let steps = answer["steps"]?.array.map { Array($0) } ?? []
            #expect(answer["verdict"]?.string == verdict, "\(event)")
            #expect(steps.last?["check"]?.string == check, "\(event): \(answer["summary"]?.string ?? "")")
        }
        let letter = try fixture.addLetters(["no-token"])[0]
        let answer = try parse(await fixture.post("explain", #"{"deviceId":"d-1","deadLetterId":"\#(letter)"}"#))
        #expect(answer["verdict"]?.string == "would-not-get")
        for (app, text) in [("mail", nil), ("chat", "The app chat is paused"), (nil, "All apps are paused")] {
            try fixture.registry().setPause(AppPause(app: app, reason: "why", user: "mei", atMilliseconds: 1))
            let body = #"{"deviceId":"d-1","event":\#(push(#""topic":"news""#))}"#
            let answer = try parse(await fixture.post("explain", body))
            #expect(answer["verdict"]?.string == (text == nil ? "would-get" : "would-not-get"))
            if let text { #expect(answer["summary"]?.string?.contains("\(text) (why, by mei)") == true) }
        }
    }

    @Test("A test push is an event for the device, whose apns-id is known before")
    func testPush() async throws {
        let fixture = try PageFixture { $0.keepsHistory = true }
        defer { fixture.stop() }
        let device = try register(fixture)
        let answer = try parse(await fixture.post("test-push", #"{"deviceId":"d-1","title":"Hello"}"#), 202)
        let identifier = try #require(answer["eventId"]?.string)
        let identity = PushIdentity(source: answer["eventSource"]?.string ?? "", identifier: identifier)
        #expect(answer["apnsId"]?.string == identity.apnsID(for: device.token).description)
        let event = try JSONParser().parse(try #require(fixture.broker.notes.withLock { $0.published.first }))
        #expect(event["data"]?["deviceIds"]?.array?.map { $0.string } == ["d-1"])
        #expect(event["data"]?["notification"]?["title"]?.string == "Hello")
        let path = "test-push?id=\(identifier)"
        #expect(try parse(await fixture.get(path))["isEnded"]?.bool == false)
        let end = """
            {"outcome":"accepted","app":"chat","event":{"source":"apus-page","id":"\(identifier)",\
            "type":"push.requested"},"pushes":[{"deviceId":"d-1","platform":"APNS","endedAtMs":1}]}
            """
        try fixture.registry().keepOutcomes(
            [KeptOutcome(eventIdentifier: identifier, identifier: "1", body: Array(end.utf8))], atMilliseconds: 1)
        let ended = try parse(await fixture.get(path))
        #expect(ended["isEnded"]?.bool == true && ended["counts"]?["accepted"]?.int64 == 1)
        #expect(await fixture.post("test-push", #"{"deviceId":"nobody","title":"x"}"#).status == 404)
        #expect(await fixture.post("test-push", #"{"deviceId":"d-1"}"#).status == 400)
        fixture.broker.notes.withLock { $0.problem = "no route" }
        #expect(await fixture.post("test-push", #"{"deviceId":"d-1","title":"x"}"#).status == 503)
        let actions = await fixture.get("actions").body
        #expect(actions.contains(#""state":"failed""#) && actions.contains("no route"))
    }

    @Test("An app or all of them are paused and resumed, and everybody sees it")
    func pauses() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let paused = try parse(await fixture.post("pauses", #"{"app":"chat","reason":"a bad release"}"#))
        let pause = try #require(paused["pauses"]?.array?.first { _ in true })
        #expect(pause["user"]?.string == "local" && pause["reason"]?.string == "a bad release")
        let now = try parse(await fixture.get("now"))
        #expect(now["apps"]?.array?.first { _ in true }?["paused"]?.bool == true)
        #expect(now["pauses"]?.array?.count == 1)
        #expect(await fixture.post("pauses", #"{"app":"shop"}"#).errorCode == "invalid")
        #expect(await fixture.post("pauses/resume", #"{"app":null}"#).errorCode == "conflict")
        let resumed = try parse(await fixture.post("pauses/resume", #"{"app":"chat"}"#))
        #expect(resumed["pauses"]?.array?.isEmpty == true)
        for path in ["pauses", "pauses/resume"] {
            for body in ["{}", #"{"app":""}"#, #"{"app":7}"#] {
                #expect(await fixture.post(path, body).errorCode == "invalid", "\(path) \(body)")
            }
        }
        _ = try parse(await fixture.post("pauses", #"{"app":null}"#))
        #expect(try parse(await fixture.get("now"))["apps"]?.array?.first { _ in true }?["paused"]?.bool == true)
        #expect(try parse(await fixture.get("actions"))["actions"]?.array?.count == 3)
        #expect(try fixture.registry().pauses().map(\.app) == [nil])
        let reason = String(repeating: "x", count: AppPause.reasonBytesMaximum + 1)
        #expect(await fixture.post("pauses", #"{"app":null,"reason":"\#(reason)"}"#).errorCode == "invalid")
    }

    @Test("Hundreds of apps are sorted by trouble, and by name where that is the same")
    func appsByTrouble() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let milliseconds = Int64((try parse(await fixture.get("session"))["nowMilliseconds"]?.int64) ?? 0)
        var status = WorkerStatus(
            kind: .worker, host: "a", processIdentifier: 7, version: "1", startedAtMilliseconds: milliseconds)
        status.apps = (0..<256).map { number in
            var app = WorkerStatus.App(name: "app-\(1_000 + number)")
            app.totals.accepted = 1_000 * number
            return app
        }
        status.apps[200].problems = ["its key is refused"]
        status.apps[100].problems = ["APNs cannot be reached"]
        status.apps[150].recent.deadLettered = 3
        status.apps[50].recent.requeuedForRetry = 1
        let registry = try fixture.registry()
        try registry.setPause(AppPause(app: "app-1250", reason: "", user: "mei", atMilliseconds: milliseconds))
        try registry.saveReport(
            WorkerReport(identifier: "one", reportedAtMilliseconds: milliseconds, content: status.json))
        let answer = await fixture.get("now")
        let names = try parse(answer)["apps"]?.array.map { $0.compactMap { $0["name"]?.string } } ?? []
        #expect(names.count == 257 && answer.body.utf8.count < 100_000)
        // The configuration of the page has an app that no worker tells of.
        let troubled = ["app-1100", "app-1200", "chat", "app-1250", "app-1150", "app-1050"]
        #expect(Array(names.prefix(6)) == troubled)
        #expect(Array(names.dropFirst(6)) == names.dropFirst(6).sorted())
    }

    @Test("Everybody sees all processes, and looks at RabbitMQ cost one look each few seconds")
    func now() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let milliseconds = Int64((try parse(await fixture.get("session"))["nowMilliseconds"]?.int64) ?? 0)
        var status = WorkerStatus(
            kind: .worker, host: "a", processIdentifier: 7, version: "1", startedAtMilliseconds: milliseconds)
        status.checks = [WorkerStatus.Check(name: "key", failure: "APNs does not accept the key of chat")]
        var app = WorkerStatus.App(name: "chat")
        app.problems = ["its key is refused"]
        app.totals.accepted = 1_000
        app.totals.matched = 1_000
        status.apps = [app]
        status.lagBoundsSeconds = [0.1, 1]
        var recorder = StatusRecorder()
        recorder.record(&status, lagCounts: [10, 0, 0], nowMilliseconds: milliseconds - 5_000)
        let registry = try fixture.registry()
        for (name, age) in [("fresh", Int64(1_000)), ("stale", 60_000)] {
            try registry.saveReport(
                WorkerReport(
                    identifier: name, reportedAtMilliseconds: milliseconds - age, content: status.json))
        }
        try registry.saveReport(
            WorkerReport(identifier: "edited", reportedAtMilliseconds: milliseconds, content: Array("x".utf8)))
        let now = try parse(await fixture.get("now"))
        let workers = now["workers"]?.array.map { Array($0) } ?? []
        #expect(workers.map { $0["id"]?.string } == ["fresh", "stale"])
        #expect(workers.map { $0["state"]?.string } == ["failing", "stale"])
        #expect(workers.first?["ageSeconds"]?.double ?? 0 >= 1)
        let chat = try #require(now["apps"]?.array?.first { _ in true })
        #expect(chat["state"]?.string == "failing" && chat["reasons"]?.array?.count == 1)
        #expect(now["totals"]?["accepted"]?.int64 == 1_000)
        #expect(now["lag"]?["p50Seconds"]?.double == 0.05)
        let queues = try #require(now["queues"]?["list"]?.array)
        #expect(queues.count == 3 && now["queues"]?["status"]?.string == "ok")
        #expect(now["deadLetters"]?["waiting"]?.int64 == 7)
        for _ in 0..<5 { _ = await fixture.get("now") }
        #expect(fixture.broker.notes.withLock { $0.looksCount } <= 2)
    }

    // MARK: Content

    @discardableResult
    private func register(_ fixture: PageFixture) throws -> Device {
        let registry = try fixture.registry()
        let token = try #require(DeviceToken(hexadecimal: TestDevices.token(1)))
        let device = Device(
            deviceID: "d-1", platform: .apns, token: token, app: "chat", identityPoolID: TestEvents.pool,
            identityID: TestDevices.identity(1), userID: "mei", registeredAtMilliseconds: PageFixture.now)
        try registry.register([DeviceRegistration(device: device, topics: ["news"])])
        try registry.subscribe("d-1", toDataset: "notes")
        _ = try registry.save([
            RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("mei"), subscriptionID: "cheap"), recordType: "Song",
                predicate: try Predicate(parsing: "price < 20"), savedAtMilliseconds: PageFixture.now)
        ])
        return device
    }

    private func push(_ target: String, app: String = "chat") -> String {
        TestEvents.event(
            "e", "push.requested", #"{"app":"\#(app)",\#(target),"notification":{"title":"Hello"}}"#)
    }

    private func record(price: Int) -> String {
        TestEvents.event(
            "e", "record.created", #"{"recordType":"Song","recordName":"s1","fields":{"price":\#(price)}}"#)
    }
}
