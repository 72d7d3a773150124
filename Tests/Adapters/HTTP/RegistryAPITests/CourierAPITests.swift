import Essentials
import JSON
import Metrics
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import StructuredLogging
import TestTraits
import Testing

@Suite("Clients that fetch their notifications", .ownThread)
struct CourierAPITests {
    /// The answer of `tokens/create`.
    private struct Created: Hashable {
        let environment: String
        let token: String
        let url: String

        init(_ answer: PlainHTTP.Answer) throws {
            #expect(answer.status == 200, "\(answer)")
            let parser = JSONParser()
            let value = try parser.parse(answer.body)
            environment = try #require(value["apnsEnvironment"]?.string)
            token = try #require(value["apnsToken"]?.string)
            url = try #require(value["webcourierURL"]?.string)
        }

        /// The path of the URL.
        var path: String { "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/") }
    }

    /// A server, and what its clients do.
    private struct Desk {
        let fixture: RegistryFixture
        let token: String

        init(
            _ kind: ServedStore.Kind = .sqlite, _ change: (inout RegistryServerConfiguration) -> Void = { _ in }
        ) async throws {
            fixture = try await RegistryFixture(kind, change)
            token = try NativeClient.token(fixture)
        }

        func post(_ operation: String, _ body: String, user: String = "mei") -> PlainHTTP.Answer {
            PlainHTTP.request(
                "POST",
                "/device/1/iCloud.com.example.chat/production/tokens/\(operation)?ckAPIToken=\(token)"
                    + "&ckWebAuthToken=\(user)",
                port: fixture.server.port, body: body)
        }

        func create(_ client: String? = nil, environment: String = "production", user: String = "mei") throws
            -> Created
        {
            let more = client.map { #","clientId":"\#($0)""# } ?? ""
            return try Created(post("create", #"{"apnsEnvironment":"\#(environment)"\#(more)}"#, user: user))
        }

        func devices(of user: String = "mei") throws -> [Device] {
            try fixture.registry().devices(matching: DeviceFilter(userID: user), after: nil, limit: 99)
        }

        func deposit(_ payload: String, for client: Created) throws {
            let message = CourierMessage(
                token: try #require(DeviceToken(hexadecimal: client.token)), app: "chat",
                pushID: APNsIdentifier(high: .random(in: 0 ... .max), low: 0), expiresAtMilliseconds: .max,
                payload: Array(payload.utf8))
            let areThere = try fixture.registry().deposit([message], nowMilliseconds: 0)
            #expect(areThere == [true])
        }

        func fetch(_ path: String) async -> PlainHTTP.Answer {
            await PlainHTTP.requestInBackground("GET", path, port: fixture.server.port)
        }
    }

    @Test(
        "A client without APNs gets a token and a URL, and waits there for each notification", .timeLimit(.minutes(5)),
        arguments: ServedStore.Kind.allCases)
    func createAndFetch(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        let client = try desk.create("browser")
        #expect(client.environment == "production" && client.token.utf8.count == 64)
        #expect(client.url.hasPrefix("http://127.0.0.1:\(desk.fixture.server.port)/courier/"))
        let device = try #require(try desk.devices().first)
        #expect(device.platform == .courier && device.token.hexadecimal == client.token && device.userID == "mei")
        async let waiting = desk.fetch(client.path)
        try desk.deposit(#"{"aps":{},"ck":{"nid":"1"}}"#, for: client)
        try desk.deposit(#"{"aps":{},"ck":{"nid":"2"}}"#, for: client)
        let first = await waiting
        #expect(first.status == 200 && first.body == #"{"aps":{},"ck":{"nid":"1"}}"#)
        #expect(first.headers["content-type"] == "application/json")
        #expect(first.headers["access-control-allow-origin"] == "*")
        #expect(await desk.fetch(client.path).body == #"{"aps":{},"ck":{"nid":"2"}}"#)
    }

    @Test("Without a notification the answer is empty, when its time has come", arguments: ServedStore.Kind.allCases)
    func nothingComes(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind) { $0.courierWaitSecondsMaximum = 0 }
        defer { desk.fixture.server.stop() }
        let nothing = await desk.fetch(try desk.create().path)
        #expect(nothing.status == 204 && nothing.body.isEmpty)
        #expect(nothing.headers["access-control-allow-origin"] == "*")
    }

    @Test(
        "Of two requests for one client one has the notification, and the other ends", .timeLimit(.minutes(5)),
        arguments: ServedStore.Kind.allCases)
    func twoRequests(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind) { $0.courierWaitSecondsMaximum = 2 }
        defer { desk.fixture.server.stop() }
        let client = try desk.create()
        async let one = desk.fetch(client.path)
        async let other = desk.fetch(client.path)
        try desk.deposit("{}", for: client)
        #expect(await [one.status, other.status].sorted() == [200, 204])
    }

    @Test("A URL is a credential: it makes so many requests in a second as any other")
    func rate() async throws {
        let desk = try await Desk {
            $0.courierWaitSecondsMaximum = 0
            $0.requestsPerSecondMaximum = 1
        }
        defer { desk.fixture.server.stop() }
        let (path, port) = (try desk.create().path, desk.fixture.server.port)
        let answers = await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await PlainHTTP.requestInBackground("GET", path, port: port) } }
            return await group.reduce(into: [PlainHTTP.Answer]()) { $0.append($1) }
        }
        #expect(answers.contains { $0.status == 204 })
        #expect(answers.contains { $0.status == 429 && $0.headers["retry-after"] == "1" })
    }

    @Test("A made-up secret proves nothing: it takes no slot, and counts as a failed authentication")
    func forgedSecrets() async throws {
        let desk = try await Desk { $0.courierWaitSecondsMaximum = 0 }
        defer { desk.fixture.server.stop() }
        let (path, port) = (try desk.create().path, desk.fixture.server.port)
        let forged = (1_000..<1_200).map { number in
            PlainHTTP.request("GET", "/courier/\(number)\(String(repeating: "A", count: 39))", port: port)
        }
        #expect(forged.allSatisfy { $0.status == 404 || $0.status == 429 })
        #expect(forged.contains { $0.status == 429 && $0.headers["retry-after"] != nil })
        #expect(PlainHTTP.request("GET", path, port: port).status == 204)
    }

    @Test(
        "A URL is good at every server of the registry, and what the registry keeps leads nowhere",
        arguments: ServedStore.Kind.allCases)
    func severalServers(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        let client = try desk.create("browser")
        var configuration = RegistryServerConfiguration(host: "127.0.0.1", port: 0, apps: [], accessKeys: [])
        configuration.courierWaitSecondsMaximum = 0
        let second = try RegistryServer(
            configuration: configuration, registry: try desk.fixture.registry(), reader: try desk.fixture.registry(),
            metrics: MetricsRegistry(), logger: .silent)
        defer { second.stop() }
        #expect(PlainHTTP.request("GET", client.path, port: second.port).status == 204)
        let kept = try #require(try desk.devices().first).token.bytes
        let read = "/courier/\(Base64URL.encode(kept))"
        #expect(PlainHTTP.request("GET", read, port: second.port).status == 404)
    }

    @Test(
        "A client that names itself gets its token again, and all others get another",
        arguments: ServedStore.Kind.allCases)
    func sameClient(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        let client = try desk.create("browser")
        #expect(try desk.create("browser") == client)
        #expect(try desk.devices().count == 1)
        let others = [
            try desk.create("browser", environment: "development"), try desk.create("another"), try desk.create(),
            try desk.create(), try desk.create("browser", user: "bob"),
        ]
        #expect(Set(others.map(\.token)).union([client.token]).count == 6)
        #expect(Set(others.map(\.url)).union([client.url]).count == 6)
        #expect(try desk.devices().count == 5)
        #expect(try desk.devices(of: "bob").count == 1)
    }

    @Test(
        "A token that the client registers stays one of its platform, even after its device was removed",
        arguments: ServedStore.Kind.allCases)
    func register(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        let client = try desk.create("browser")
        let body = #"{"apnsEnvironment":"development","apnsToken":"\#(client.token)"}"#
        #expect(desk.post("register", body).status == 200)
        let device = try #require(try desk.devices().first)
        #expect(try desk.devices().count == 1 && device.platform == .courier)
        #expect(try desk.fixture.registry().removeDevice(device.deviceID))
        #expect(await desk.fetch(client.path).status == 404)
        #expect(desk.post("register", body).status == 200)
        #expect(try desk.devices().map(\.platform) == [.courier])
        async let waiting = desk.fetch(client.path)
        try desk.deposit("{}", for: client)
        #expect(await waiting.body == "{}")
    }

    @Test(
        "A URL that was never handed out leads nowhere, whatever is wrong with it", arguments: ServedStore.Kind.allCases
    )
    func unknownSecret(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        let client = try desk.create("browser")
        let device = try #require(try desk.devices().first)
        #expect(try desk.fixture.registry().removeDevice(device.deviceID))
        let gone = await desk.fetch(client.path)
        #expect(gone.status == 404)
        for path in ["/courier/x", "/courier/\(client.token)", String(client.path.dropLast()), "\(client.path)A"] {
            let answer = await desk.fetch(path)
            #expect(answer.status == 404 && answer.body == gone.body, "\(path)")
        }
        #expect(PlainHTTP.request("POST", client.path, port: desk.fixture.server.port).status == 405)
        #expect(await desk.fetch("/courier").status == 404)
    }

    @Test("The URL comes from the configuration, whatever host the client names")
    func addresses() throws {
        func create(_ change: (inout RegistryServerConfiguration) -> Void) throws -> PlainHTTP.Answer {
            let other = try RegistryFixture {
                $0.hosts = ["*"]
                change(&$0)
            }
            defer { other.server.stop() }
            let body = #"{"apnsEnvironment":"production"}"#
            return PlainHTTP.exchange(
                "POST /database/1/iCloud.com.example.chat/production/tokens/create?ckAPIToken="
                    + "\(try NativeClient.token(other))&ckWebAuthToken=mei HTTP/1.1\r\nHost: evil.example\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)", other.server.port)
        }
        let known = try create { $0.publicURL = "https://push.example.com/api" }
        #expect(try Created(known).url.hasPrefix("https://push.example.com/api/courier/"))
        #expect(try Created(try create { _ in }).url.hasPrefix("http://127.0.0.1:"))
        let unknown = try create { $0.host = "0.0.0.0" }
        #expect(unknown.status == 500 && unknown.body.contains("registry.public_url"))
    }

    @Test("What cannot be is refused", arguments: ServedStore.Kind.allCases)
    func refusals(_ kind: ServedStore.Kind) async throws {
        let desk = try await Desk(kind)
        defer { desk.fixture.server.stop() }
        for body in [
            "{}", #"{"apnsEnvironment":"test"}"#, #"{"apnsEnvironment":"production","clientId":1}"#,
            #"{"apnsEnvironment":"production","clientId":""}"#,
            #"{"apnsEnvironment":"production","clientId":"\#(String(repeating: "x", count: 257))"}"#,
        ] {
            #expect(desk.post("create", body).status == 400, "\(body)")
        }
        #expect(try desk.devices().isEmpty)
        let client = try desk.create("browser")
        let native = try NativeClient(desk.fixture)
        func put(_ platform: String, _ token: String) -> Int {
            native.send("PUT", "/v1/devices/d1", #"{"platform":"\#(platform)","token":"\#(token)","app":"chat"}"#)
                .status
        }
        #expect(put("APNS", client.token) == 400)
        #expect(put("WEB", String(repeating: "ab", count: 32)) == 400)
        #expect(put("WEB", client.token) == 201)
    }
}
