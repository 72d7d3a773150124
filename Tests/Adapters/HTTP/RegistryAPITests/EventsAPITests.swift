import ChangeEvents
import Essentials
import EventLoop
import JSON
import Messages
import Metrics
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import TestTraits
import Testing

@testable import RegistryAPI

/// A server that takes events, whose publisher is the test's.
private struct EventsFixture {
    static let push = #"{"app":"chat","userIds":["mei"],"notification":{"title":"On its way"}}"#
    static let single = "application/cloudevents+json"
    static let batch = "application/cloudevents-batch+json"

    let publisher: StubPublisher
    let sources: TableSources
    let fixture: RegistryFixture
    let client: NativeClient

    init(
        _ publisher: StubPublisher = StubPublisher(), app: String? = nil,
        permission: APIToken.Permission = .publish, eventsPerSecond: Int = 1_000, rememberMilliseconds: Int64 = 60_000,
        sources: TableSources = TableSources()
    ) throws {
        self.publisher = publisher
        self.sources = sources
        fixture = try RegistryFixture { configuration in
            configuration.events = EventPublishing(
                publisher: publisher, exchange: "apus.changes", apps: [], sources: sources,
                eventsPerSecondMaximum: eventsPerSecond)
            guard rememberMilliseconds > 0 else { return }
            configuration.events?.memory = TestEventMemory(
                rememberMilliseconds: rememberMilliseconds, eventsMaximum: 1_000)
        }
        client = try NativeClient(fixture, app: app, permission: permission)
    }

    /// Sends a request; the answer has to be one that the document tells of.
    func post(_ body: String, _ type: String? = nil, fields: String = "") -> PlainHTTP.Answer {
        client.send("POST", "/v1/events", body, type: type, fields: fields)
    }

    static func event(_ identifier: String, app: String = "chat", more: String = "") -> String {
        #"{"specversion":"1.0","id":"\#(identifier)","source":"shop","type":"push.requested"\#(more),"#
            + #""data":{"app":"\#(app)","userIds":["mei"],"notification":{"title":"a"}}}"#
    }

    /// What a worker makes of all that was published.
    func decoded() throws -> [ChangeEvent] {
        let decoder = EventDecoder(sources: sources)
        return try publisher.published.read { $0 }.map { try decoder.decode($0.message) }
    }
}

@Suite("Events over HTTP", .ownThread)
struct EventsAPITests {
    @Test("Plain JSON becomes a push whose attributes the server makes, and whose identity it tells")
    func plain() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let answer = events.post(EventsFixture.push)
        #expect(answer.status == 202)
        let event = try #require(try events.decoded().first)
        guard case .push(let push) = event.kind else { return #expect(Bool(false), "\(event)") }
        #expect(push.app == "chat" && push.notification.title == "On its way")
        #expect(event.source == "/tokens/all%20publish" && event.time != nil)
        #expect(answer.body == #"{"id":"\#(event.identifier)","source":"/tokens/all%20publish"}"#)
        let message = try #require(events.publisher.published.read { $0.first })
        #expect(message.exchange == "apus.changes" && message.routingKey == event.routingKey)
        #expect(message.message.properties.messageID == event.identifier && !message.isOptional)
    }

    @Test("An idempotency key is the event's id, in quotation marks or without")
    func idempotencyKey() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        for key in ["order-18231", "\"order-18231\""] {
            #expect(events.post(EventsFixture.push, fields: "Idempotency-Key: \(key)\r\n").status == 202)
        }
        #expect(try events.decoded().map(\.identifier) == ["order-18231", "order-18231"])
        for key in ["", "\"\"", "two words", "a\"b", String(repeating: "k", count: 256)] {
            let answer = events.post(EventsFixture.push, fields: "Idempotency-Key: \(key)\r\n")
            #expect(answer.status == 400 && answer.body.contains("Idempotency-Key"), "\(key)")
        }
    }

    @Test("A key stands for one content: another is refused, whether the process or the registry knows the first")
    func reusedKey() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        func post(_ key: String, _ text: String) -> PlainHTTP.Answer {
            events.post(
                EventsFixture.push.replacing("On its way", with: text), fields: "Idempotency-Key: \(key)\r\n")
        }
        #expect(post("1", "Paid").status == 202 && post("1", "Paid").status == 202)
        let refused = post("1", "Sent")
        #expect(refused.status == 409 && refused.body.contains(#""code":"conflict""#), "\(refused)")
        #expect(post("2", "Sent").status == 202)
        let registry = try events.fixture.registry()
        let paid = EventsFixture.push.replacing("On its way", with: "Paid")
        let now = WallClock.nowMilliseconds()
        for (key, milliseconds) in [("3", now - 30_000), ("4", now - 62_000)] {
            let known = RememberedEvent(
                identity: EventIdentity(source: "/tokens/all%20publish", identifier: key, owner: "chat"),
                content: Message.contentDigest(of: Array(paid.utf8)))
            try registry.remember([known], endedAtMilliseconds: milliseconds)
        }
        #expect(post("3", "Sent").status == 409 && post("3", "Paid").status == 202)
        #expect(post("4", "Sent").status == 202, "its time has passed")
    }

    @Test("Without a memory a key may stand for several contents")
    func keysWithoutMemory() throws {
        let events = try EventsFixture(rememberMilliseconds: 0)
        defer { events.fixture.server.stop() }
        for text in ["Paid", "Sent"] {
            let body = EventsFixture.push.replacing("On its way", with: text)
            #expect(events.post(body, fields: "Idempotency-Key: 1\r\n").status == 202)
        }
    }

    @Test("An event with an id or a key of its sender asks to be remembered, one with a random id does not")
    func remembering() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let attributes = "ce-specversion: 1.0\r\nce-type: push.requested\r\nce-source: s\r\nce-id: 3\r\n"
        #expect(events.post(EventsFixture.push, fields: "Idempotency-Key: 1\r\n").status == 202)
        #expect(events.post(EventsFixture.event("2"), EventsFixture.single).status == 202)
        #expect(events.post(EventsFixture.push, "application/json", fields: attributes).status == 202)
        #expect(events.post("[\(EventsFixture.event("4"))]", EventsFixture.batch).status == 202)
        #expect(events.post(EventsFixture.push).status == 202)
        let asking = events.publisher.published.read { $0.map(\.message.asksToBeRemembered) }
        #expect(asking == [true, true, true, true, false])
    }

    /// What a webhook of a Supabase database sends.
    private static func webhook(_ type: String, table: String = "songs") -> String {
        #"{"type":"\#(type)","table":"\#(table)","schema":"public","record":{"id":7,"title":"Rain"},"old_record":null}"#
    }

    @Test("A webhook of Supabase becomes the record event of its source, with the request's key as its id")
    func databaseWebhook() throws {
        let source = TableSource(
            table: "public.songs", recordType: "Song", changes: [.created, .deleted], app: "chat")
        let events = try EventsFixture(app: "chat", sources: TableSources([source]))
        defer { events.fixture.server.stop() }
        let answer = events.post(Self.webhook("INSERT"), "application/json", fields: "Idempotency-Key: w1\r\n")
        #expect(answer.status == 202 && answer.body == #"{"id":"w1","source":"/tokens/chat%20publish"}"#, "\(answer)")
        let event = try #require(try events.decoded().first)
        guard case .record(let change) = event.kind else { return #expect(Bool(false), "\(event)") }
        #expect(change.recordName == "7" && change.fields["title"] == .string("Rain") && event.identifier == "w1")
        let message = try #require(events.publisher.published.read { $0.first })
        #expect(message.routingKey == "record.created.7" && message.message.body == Array(Self.webhook("INSERT").utf8))
        let skipped = events.post(Self.webhook("UPDATE"), "application/json")
        #expect(skipped.status == 202 && skipped.body == #"{"events":[]}"#, "\(skipped)")
        let unknown = events.post(Self.webhook("INSERT", table: "albums"), "application/json")
        #expect(unknown.status == 400 && unknown.body.contains("[[source]]"), "\(unknown)")
        #expect(events.publisher.published.read { $0.count } == 1)
        let metrics = events.fixture.metrics.render()
        for outcome in ["published", "skipped", "refused"] {
            #expect(metrics.contains(#"apus_registry_api_events_total{outcome="\#(outcome)"} 1"#), "\(outcome)")
        }
    }

    @Test("One event in structured mode is passed on as it was written")
    func structured() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let text = EventsFixture.event("1", more: #","ext":"é\u0061" , "n": 1.50"#)
        let answer = events.post(text, "\(EventsFixture.single); charset=UTF-8")
        #expect(answer.status == 202 && answer.body == #"{"id":"1","source":"shop"}"#)
        let message = try #require(events.publisher.published.read { $0.first?.message })
        #expect(message.body == Array(text.utf8))
        #expect(try events.decoded().map(\.identifier) == ["1"])
    }

    @Test("An event in binary mode has the attributes of its headers, decoded")
    func binary() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let fields = """
            ce-specversion: 1.0\r
            CE-Type: push.requested\r
            ce-id: "a%20\\"b\\""\r
            ce-source: /sh%C3%B6p?50%\r
            ce-time: 2026-01-31T12:00:00Z\r
            traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r

            """
        let answer = events.post(EventsFixture.push, "application/json", fields: fields)
        #expect(answer.status == 202, "\(answer)")
        let event = try #require(try events.decoded().first)
        #expect(event.identifier == "a \"b\"" && event.source == "/shöp?50%")
        #expect(event.time?.milliseconds == 1_769_860_800_000)
        #expect(event.trace != nil)
    }

    @Test("A header that cannot be decoded, is there twice, or misses its version is named")
    func wrongHeaders() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let whole = "ce-specversion: 1.0\r\nce-type: push.requested\r\nce-source: s\r\n"
        for (fields, text) in [
            (whole + "ce-id: %FF\r\n", "ce-id"), (whole + "ce-id: 1\r\nce-id: 2\r\n", "ce-id"),
            ("ce-id: 1\r\n", "ce-specversion"), (whole, "ce-id is missing"),
            (whole.replacing("1.0", with: "2.0") + "ce-id: 1\r\n", "specversion"),
            (whole.replacing("push.requested", with: "push.wanted") + "ce-id: 1\r\n", "push.wanted"),
        ] {
            let answer = events.post(EventsFixture.push, "application/json", fields: fields)
            #expect(answer.status == 400 && answer.body.contains(text), "\(fields): \(answer.body)")
        }
        #expect(events.publisher.published.read { $0.isEmpty })
    }

    @Test("A batch is answered event by event; wrong ones do not hold up the others, and are no success")
    func batch() throws {
        let events = try EventsFixture(app: "chat")
        defer { events.fixture.server.stop() }
        #expect(events.post("[]", EventsFixture.batch).body == #"{"events":[]}"#)
        let (one, two) = (EventsFixture.event("1"), EventsFixture.event("2"))
        let right = events.post(" [\(one) ,\n \(two)] ", EventsFixture.batch)
        #expect(
            right.status == 202
                && right.body == #"{"events":[{"status":202,"id":"1","source":"shop"},"#
                    + #"{"status":202,"id":"2","source":"shop"}]}"#
        )
        let other = EventsFixture.event("3", app: "mail")
        let misspelt = EventsFixture.event("4").replacing("userIds", with: "userIDs")
        let mixed = events.post("[\(other),\(two),\(misspelt)]", EventsFixture.batch)
        #expect(mixed.status == 403 && mixed.body.contains("1 of 3 events are published"))
        let root = try JSONParser().parse(mixed.body)
        let results = try #require(root["events"]?.array.map(Array.init))
        #expect(results.map { $0["status"]?.int64 } == [403, 202, 400])
        #expect(results[2]["detail"]?.string?.contains("userIds") == true)
        #expect(try events.decoded().map(\.identifier) == ["1", "2", "2"])
    }

    @Test("Numbers in a batch keep their digits")
    func numbersInBatch() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let record =
            #"{"specversion":"1.0","id":"1","source":"s","type":"record.created","data":"#
            + #"{"recordType":"Song","recordName":"n","fields":{"a":18446744073709551616,"b":1.50,"c":"],{\""}}}"#
        #expect(events.post("[\(record),\(record)]", EventsFixture.batch).status == 202)
        #expect(
            events.publisher.published.read { $0.map(\.message.body) } == [Array(record.utf8), Array(record.utf8)])
    }

    @Test("Wrong bodies are refused with the rule, and nothing is published")
    func wrongBodies() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let many = "[" + Array(repeating: "{}", count: 1_001).joined(separator: ",") + "]"
        for (body, type, status, text) in [
            ("", nil, 400, "empty"), ("{", nil, 400, "JSON"), ("[]", nil, 400, "object"),
            (#"{"app":"chat","userIds":["mei"],"notifcation":{}}"#, nil, 400, "notification"),
            ("<a/>", "text/xml", 415, "text/xml"), ("{}", EventsFixture.single, 400, "specversion"),
            ("x", "application/cloudevents+avro", 415, "avro"), ("{}", EventsFixture.batch, 400, "array"),
            ("[1]", EventsFixture.batch, 400, "objects"), ("[{}", EventsFixture.batch, 400, "JSON"),
            ("[{} {}]", EventsFixture.batch, 400, "array"), ("[{},]", EventsFixture.batch, 400, "array"),
            ("[,{}]", EventsFixture.batch, 400, "array"), ("x[{}]", EventsFixture.batch, 400, "array"),
            ("[{}]x", EventsFixture.batch, 400, "array"), ("[{},[]]", EventsFixture.batch, 400, "array"),
            ("[", EventsFixture.batch, 400, "array"), (#"[{"a":}]"#, EventsFixture.batch, 400, "valid JSON"),
            (many, EventsFixture.batch, 413, "1000"),
        ] as [(String, String?, Int, String)] {
            let answer = events.post(body, type)
            #expect(answer.status == status && answer.body.contains(text), "\(body.prefix(40)): \(answer.body)")
        }
        #expect(events.publisher.published.read { $0.isEmpty })
    }

    @Test("202 comes only after RabbitMQ's confirm", .timeLimit(.minutes(1)))
    func confirm() async throws {
        let events = try EventsFixture(StubPublisher { _ in nil })
        defer { events.fixture.server.stop() }
        let answered = Watched(false)
        let (port, authorization) = (
            events.fixture.server.port, "Authorization: Bearer \(events.client.token ?? "")\r\n"
        )
        let answer = Task {
            let answer = await PlainHTTP.requestInBackground(
                "POST", "/v1/events", port: port, body: EventsFixture.push, fields: authorization)
            answered.update { $0 = true }
            return answer.status
        }
        #expect(await events.publisher.published.wait { $0.count == 1 })
        // A round trip of another request gives an early answer time to show.
        #expect(events.client.send("GET", "/v1/devices/none").status == 403)
        #expect(!answered.read { $0 })
        events.publisher.end(.confirmed)
        #expect(await answer.value == 202)
    }

    @Test(
        "What RabbitMQ does not take is no success",
        arguments: [
            (PublishOutcome.refused, 503), (.returned("NO_ROUTE"), 503), (.rejected("too long"), 400),
        ])
    func outcomes(_ outcome: PublishOutcome, _ status: Int) throws {
        let events = try EventsFixture(StubPublisher { _ in outcome })
        defer { events.fixture.server.stop() }
        let answer = events.post(EventsFixture.push)
        #expect(answer.status == status, "\(answer)")
        #expect((answer.headers["retry-after"] != nil) == (status == 503))
        let batch = events.post("[\(EventsFixture.event("1"))]", EventsFixture.batch)
        #expect(batch.status == status && batch.body.contains(#""status":\#(status)"#))
    }

    @Test("While RabbitMQ takes nothing, requests are refused at once and may come again")
    func notReady() throws {
        let events = try EventsFixture(StubPublisher(isReady: false))
        defer { events.fixture.server.stop() }
        let answer = events.post(EventsFixture.push)
        #expect(answer.status == 503 && answer.headers["retry-after"] == "5")
        #expect(events.fixture.server.eventsProblem == "no connection")
        #expect(events.publisher.published.read { $0.isEmpty })
        events.publisher.become(ready: true)
        #expect(events.post(EventsFixture.push).status == 202)
        #expect(events.fixture.server.eventsProblem == nil)
    }

    @Test("A token publishes only with the permission for it, and with that does nothing else")
    func permissions() throws {
        for permission in [APIToken.Permission.read, .write] {
            let events = try EventsFixture(permission: permission)
            defer { events.fixture.server.stop() }
            let answer = events.post(EventsFixture.push)
            #expect(answer.status == 403 && answer.body.contains("permission to publish"))
            #expect(events.client.with(token: nil).send("POST", "/v1/events", EventsFixture.push).status == 401)
        }
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        for (method, path) in [("GET", "/v1/devices"), ("DELETE", "/v1/users/u"), ("GET", "/v1/devices/d")] {
            #expect(events.client.send(method, path).status == 403)
        }
        #expect(events.publisher.published.read { $0.isEmpty })
    }

    @Test("A removed token publishes no more, a second later at most", .timeLimit(.minutes(1)))
    func removed() async throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        #expect(events.post(EventsFixture.push).status == 202)
        for token in try events.fixture.registry().tokens() {
            _ = try events.fixture.registry().removeToken(named: token.name)
        }
        try await eventually("the token is unknown") { events.post(EventsFixture.push).status == 401 }
        #expect(events.post("[\(EventsFixture.event("1"))]", EventsFixture.batch).status == 401)
    }

    @Test("A token of one app publishes no event that concerns another")
    func apps() throws {
        let events = try EventsFixture(app: "chat")
        defer { events.fixture.server.stop() }
        let pool = RegistryFixture.pool
        func dataset(_ pool: String) -> String {
            #"{"specversion":"1.0","id":"1","source":"s","type":"dataset.changed","data":{"identityPoolId":"#
                + #""\#(pool)","identityId":"us-east-1:42","datasetName":"notes","syncCount":1}}"#
        }
        func record(_ app: String) -> String {
            #"{"specversion":"1.0","id":"1","source":"s","type":"record.created","data":{"#
                + app + #""recordType":"Song","recordName":"n","fields":{}}}"#
        }
        for (event, status) in [
            (EventsFixture.event("1"), 202), (EventsFixture.event("1", app: "mail"), 403), (dataset(pool), 202),
            (dataset("us-east-1:22222222-2c08-43f0-9983-28727e0a1b2c"), 403), (record(#""app":"chat","#), 202),
            (record(#""app":"mail","#), 403), (record(""), 403),
        ] {
            #expect(events.post(event, EventsFixture.single).status == status, "\(event)")
        }
    }

    @Test("A token has a rate of events, and pays for a batch before its next request")
    func rate() throws {
        let events = try EventsFixture(eventsPerSecond: 1)
        defer { events.fixture.server.stop() }
        let batch = "[" + (0..<100).map { EventsFixture.event("\($0)") }.joined(separator: ",") + "]"
        #expect(events.post(batch, EventsFixture.batch).status == 202)
        let answer = events.post(EventsFixture.push)
        #expect(answer.status == 429)
        #expect(answer.headers["retry-after"].flatMap { Int($0) }.map { (90...100).contains($0) } == true)
    }

    @Test("A sender of webhooks is told that it may deliver, and how much")
    func handshake() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        func ask(_ fields: String) -> PlainHTTP.Answer {
            PlainHTTP.exchange(
                "OPTIONS /v1/events HTTP/1.1\r\nHost: localhost\r\n\(fields)Connection: close\r\n\r\n",
                events.fixture.server.port)
        }
        let answer = ask("WebHook-Request-Origin: eventemitter.example.com\r\nWebHook-Request-Rate: 120\r\n")
        #expect(answer.status == 204 && answer.headers["webhook-allowed-origin"] == "eventemitter.example.com")
        #expect(answer.headers["webhook-allowed-rate"] == "60000" && answer.headers["allow"] == "OPTIONS, POST")
        #expect(ask("").headers["webhook-allowed-origin"] == nil)
    }

    @Test("A publisher asks what became of its event, by the path that the answer gave, and sees its own app alone")
    func summary() throws {
        let publisher = StubPublisher()
        let fixture = try RegistryFixture { configuration in
            configuration.events = EventPublishing(
                publisher: publisher, exchange: "apus.changes", apps: [], sources: TableSources(),
                eventsPerSecondMaximum: 1_000)
            configuration.events?.keepsHistory = true
            configuration.keepsHistory = true
        }
        defer { fixture.server.stop() }
        let client = try NativeClient(fixture, app: "chat", permission: .publish)
        let answer = client.send("POST", "/v1/events", EventsFixture.push, fields: "Idempotency-Key: a/1\r\n")
        let path = try #require(answer.headers["location"])
        #expect(path == "/v1/events/a%2F1?source=%2Ftokens%2Fchat%2520publish")
        #expect(client.send("GET", path).status == 404)
        let own = "/tokens/chat%20publish"
        func outcome(_ kind: String, app: String = "chat", source: String = own, attempt: Int = 1) {
            let body = """
                {"outcome":"\(kind)","app":"\(app)","event":{"source":"\(source)","id":"a/1","type":"push.requested",\
                "publishedAtMs":1,"firstSeenAtMs":1},"attempt":\(attempt),"pushes":[{"deviceId":"phone",\
                "platform":"APNS","pushId":"p","sends":1,"reason":"r","endedAtMs":1000}]}
                """
            let kept = KeptOutcome(
                eventIdentifier: "a/1", identifier: "\(kind)\(app)\(source)\(attempt)", body: Array(body.utf8))
            #expect(throws: Never.self) { try fixture.registry().keepOutcomes([kept], atMilliseconds: 1) }
        }
        outcome("retrying")
        #expect(client.send("GET", path).body.contains(#""isEnded":false,"counts":{"retrying":1}"#))
        outcome("accepted", attempt: 2)
        outcome("accepted", app: "mail")
        outcome("accepted", source: "other")
        let ended = client.send("GET", path)
        #expect(
            ended.body
                == #"{"id":"a/1","source":"/tokens/chat%20publish","type":"push.requested","isEnded":true,"counts":"#
                + #"{"accepted":1},"pushes":[{"app":"chat","deviceId":"phone","platform":"APNS","outcome":"accepted","#
                + #""reason":"r","attempt":2,"pushId":"p","endedAt":"1970-01-01T00:00:01.000Z"}],"wholeEvent":[],"#
                + #""text":"1 accepted","otherSources":["other"]}"#, "\(ended.body)")
        let reader = try NativeClient(fixture, permission: .read)
        #expect(reader.send("GET", path).body.contains(#""counts":{"accepted":2}"#))
        #expect(client.with(token: nil).send("GET", path).status == 401)
        #expect(client.send("GET", "/v1/events/a?sorce=1").status == 400)
    }

    @Test("A large fan-out is told of as a whole, to tokens of its app and to those of all apps")
    func fanOut() throws {
        let fixture = try RegistryFixture { $0.keepsHistory = true }
        defer { fixture.server.stop() }
        for app in ["chat", "mail"] {
            let event = FanOutEvent(
                digest: EventDigest(source: "s", identifier: app), source: "s", identifier: app,
                type: "push.requested", app: app)
            _ = try fixture.registry().beginFanOut(event, planner: 1, nowMilliseconds: WallClock.nowMilliseconds())
        }
        let client = try NativeClient(fixture, app: "chat", permission: .publish)
        let told = client.send("GET", "/v1/events/chat?source=s")
        #expect(
            told.body
                == #"{"id":"chat","source":"s","type":"push.requested","isEnded":false,"counts":{},"pushes":[],"#
                + #""wholeEvent":[],"fanOut":{"state":"planning","devices":0,"chunks":0,"chunksServed":0},"text":"#
                + #""a fan-out to 0 devices that is planning (0 of 0 chunks served)"}"#, "\(told.body)")
        let unknown = client.send("GET", "/v1/events/mail?source=s")
        #expect(unknown.status == 404 && unknown.headers["retry-after"] == "1")
        let reader = try NativeClient(fixture, permission: .read)
        #expect(reader.send("GET", "/v1/events/mail?source=s").status == 200)
        #expect(reader.send("GET", "/v1/events/mail").status == 404)
    }

    @Test("A server whose workers keep no history says which setting it lacks")
    func noHistory() throws {
        let events = try EventsFixture()
        defer { events.fixture.server.stop() }
        let answer = events.client.send("GET", "/v1/events/1")
        #expect(answer.status == 404 && answer.body.contains("events.history"))
        #expect(answer.headers["retry-after"] == nil)
        #expect(events.post(EventsFixture.push).headers["location"] == nil)
    }

    @Test("A server that is not to take events says which setting it lacks")
    func notEnabled() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let answer = try NativeClient(fixture, permission: .publish).send("POST", "/v1/events", EventsFixture.push)
        #expect(answer.status == 404 && answer.body.contains("registry.events"))
    }
}
