import Essentials
import JSON
import Notifications
import PushServiceSimulator
import RegistryAPI
import SimulatorTestClient
import Testing
import WebPushSimulator

@Suite("Web Push: pushes and subscriptions", .timeLimit(.minutes(10)))
struct AcceptanceTests {
    @Test(
        "Each profile takes a good push, answers as its service does, and keeps the plaintext",
        arguments: ServiceProfile.allCases)
    func accepts(profile: ServiceProfile) async throws {
        let name = profile.rawValue
        let summary = try await WebPushFixture.run(
            WebPushFixture.configured { $0.origins = [.init(profile)] }
        ) { fixture in
            let response = try await fixture.send(name, 3, #"{"id":"a","n":1}"#, ttl: "99999999")
            #expect(response.status == 201, "\(response)")
            #expect(response.body == "")
            #expect(response.header("date") != nil)
            switch profile {
            case .plain, .mozilla:
                let url = try fixture.simulator.url(ofOrigin: name)
                #expect(response.header("location")?.hasPrefix(url + "/m/") == true)
                #expect(response.header("ttl") == "\(30 * 86_400)")
            case .fcm:
                #expect(response.header("location") != nil && response.header("ttl") == nil)
            case .apple: #expect(response.header("apns-id") != nil && response.header("location") == nil)
            case .wns:
                #expect(response.header("x-wns-status") == "received" && response.header("x-wns-msg-id") != nil)
            }
            let records = try await fixture.simulator.recorded()
            try #require(records.count == 1)
            #expect(records[0].subscription == name + "-0000003" && records[0].origin == name)
            #expect(records[0].plaintext == Array(#"{"id":"a","n":1}"#.utf8))
            #expect(records[0].fate == .delivered && records[0].ttlSeconds == 99_999_999)
            #expect(records[0].urgency == "normal" && records[0].topic == nil && !records[0].isDuplicate)
        }
        #expect(summary.accepted == 1 && summary.delivered == 1 && summary.vapidTokens == 1)
        #expect(summary.answers.map(\.status) == [201] && summary.count(nil) == 1)
    }

    @Test("A push without content needs no encoding, and has no plaintext")
    func noContent() async throws {
        try await WebPushFixture.run { fixture in
            let subscription = try fixture.simulator.subscription(ofOrigin: "plain", 0)
            let request = try fixture.request(
                "plain", subscription, body: [], authorization: try fixture.authorization("plain"))
            let client = try fixture.client("plain")
            #expect(await client.send(request).status == 415)
            #expect(await client.send(request.with("content-encoding", nil)).status == 201)
            #expect(try await fixture.simulator.recorded().last?.plaintext == nil)
        }
    }

    @Test("The same seed makes the same subscriptions, another seed or origin makes others")
    func deterministic() async throws {
        func all(seed: UInt64, port: UInt16 = 0) async throws -> [SimulatedSubscription] {
            var made: [SimulatedSubscription] = []
            try await WebPushFixture.run(WebPushFixture.configured { $0.seed = seed }) { fixture in
                try fixture.simulator.forEachSubscription(20) { made.append($0) }
            }
            return made
        }
        func secrets(_ subscription: SimulatedSubscription) -> [String] {
            [subscription.id, subscription.p256dh, subscription.auth, String(subscription.endpoint.dropFirst(24))]
        }
        let first = try await all(seed: 1)
        #expect(try await all(seed: 1).map { secrets($0) } == first.map { secrets($0) })
        let second = try await all(seed: 2)
        #expect(Set(first.map(\.id)) == Set(second.map(\.id)) && Set(first.map(\.id)).count == 20)
        #expect(Set((first + second).map(\.p256dh)).count == 40 && Set((first + second).map(\.auth)).count == 40)
        #expect(Set((first + second).map(\.endpoint)).count == 40)
    }

    @Test("Subscriptions are handed out as browsers do it, and as lines of an import")
    func lines() async throws {
        try await WebPushFixture.run { fixture in
            for name in fixture.simulator.originNames {
                let subscription = try fixture.simulator.subscription(ofOrigin: name, 19)
                let parser = JSONParser()
                let line = try parser.parse(subscription.deviceLine(app: "web", ["userId": "u\"1"]))
                #expect(line["deviceId"]?.string == "\(name)-0000019" && line["platform"]?.string == "WEB_PUSH")
                #expect(line["app"]?.string == "web" && line["userId"]?.string == "u\"1")
                let inner = try #require(line["subscription"])
                #expect(inner["endpoint"]?.string == subscription.endpoint && inner["expirationTime"]?.isNull == true)
                #expect(inner["keys"]?["p256dh"]?.string == subscription.p256dh)
                #expect(Base64URL.decode(subscription.p256dh)?.count == 65)
                #expect(Base64URL.decode(subscription.auth)?.count == 16)
                #expect(try JSONParser().parse(subscription.json)["endpoint"]?.string == subscription.endpoint)
                #expect(throws: SimulatorError.self) { _ = try fixture.simulator.subscription(ofOrigin: name, 20) }
            }
            #expect(throws: SimulatorError.self) { _ = try fixture.simulator.subscription(ofOrigin: "other", 0) }
        }
    }

    @Test("A registry takes the subscriptions of each origin")
    func registry() async throws {
        try await WebPushFixture.run { fixture in
            for name in fixture.simulator.originNames {
                let subscription = try fixture.simulator.subscription(ofOrigin: name, 0)
                let read = try PushSubscription(try JSONParser().parse(subscription.json))
                let token = try read.token(nowMilliseconds: fixture.clock.nowMilliseconds)
                #expect(token.text(for: .webPush) == subscription.endpoint, "\(name)")
            }
        }
    }

    @Test("An endpoint with any other character is unknown, and the escapes of Windows may be in either case")
    func unknownEndpoints() async throws {
        try await WebPushFixture.run { fixture in
            for (name, status) in [("plain", 404), ("fcm", 404), ("mozilla", 404), ("apple", 404), ("wns", 404)] {
                let push = try fixture.push(name)
                let path = try #require(push.headers.first { $0.0 == ":path" }?.1)
                let client = try fixture.client(name)
                for changed in ["/", "/push/", path.dropLast() + "", path + "A", path.replacing("/", with: "//")] {
                    #expect(await client.send(push.with(":path", changed)).status == status, "\(name) \(changed)")
                }
                let last = path.dropLast(4).last == "A" ? "B" : "A"
                let other = path.dropLast(5) + last + path.suffix(4)
                #expect(await client.send(push.with(":path", String(other))).status == status, "\(name)")
            }
            let push = try fixture.push("wns")
            let path = try #require(push.headers.first { $0.0 == ":path" }?.1)
            #expect(path.contains("%2b") && path.contains("%2f"))
            let capitals = path.replacing("%2b", with: "%2B").replacing("%3d", with: "%3D")
            #expect(try await fixture.client("wns").send(push.with(":path", capitals)).status == 201)
            // An endpoint of one origin is none of another.
            let foreign = try fixture.push("plain").with(":path", path)
            #expect(try await fixture.client("plain").send(foreign).status == 404)
        }
    }

    @Test("A trusting simulator takes everything unseen")
    func trusting() async throws {
        let summary = try await WebPushFixture.run(WebPushFixture.configured { $0.isTrusting = true }) { fixture in
            let push = try fixture.push("fcm").with("authorization", nil).with("ttl", nil)
            #expect(try await fixture.client("fcm").send(push).status == 201)
        }
        #expect(summary.accepted == 1)
    }

    @Test("Configurations that could not work are refused")
    func badConfigurations() async throws {
        let changes: [(inout WebPushSimulatorConfiguration) throws -> Void] = [
            { $0.origins = [] }, { $0.origins = [.init(.fcm), .init(.fcm)] },
            { $0.origins = [.init(.fcm, name: "a b")] }, { $0.origins = [.init(.fcm, name: "")] },
            { $0.subscriptionsPerOrigin = 0 },
            { $0.subscriptionsPerOrigin = 10_000_001 }, { $0.applicationServerKey = [4, 1] },
            { $0.webPushFaults = try .lines(#"{"fault":"silence","origin":"none"}"#) },
        ]
        for change in changes {
            let configuration = try WebPushFixture.configured(change)
            await #expect(throws: SimulatorError.self) { _ = try await WebPushSimulator.start(configuration) }
        }
    }
}
