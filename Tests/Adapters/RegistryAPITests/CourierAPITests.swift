import Crypto
import JSON
import Metrics
import PushCore
import PushTestKit
import RegistryAPI
import SQLiteRegistry
import Testing

@Suite("Clients that fetch their notifications")
struct CourierAPITests {
    private let fixture: RegistryFixture
    private let token: String

    init() throws {
        fixture = try RegistryFixture()
        token = try NativeClient.token(fixture)
    }

    /// What `tokens/create` has answered.
    private struct Created: Hashable {
        var environment: String
        var token: String
        var url: String

        /// The path of the URL.
        var path: String { "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/") }
    }

    private func post(_ operation: String, _ body: String, user: String = "mei") -> PlainHTTP.Answer {
        PlainHTTP.request(
            "POST",
            "/device/1/iCloud.com.example.chat/production/tokens/\(operation)?ckAPIToken=\(token)"
                + "&ckWebAuthToken=\(user)",
            port: fixture.server.port, body: body)
    }

    private func create(_ client: String? = nil, environment: String = "production", user: String = "mei") throws
        -> Created
    {
        let more = client.map { #","clientId":"\#($0)""# } ?? ""
        return try created(post("create", #"{"apnsEnvironment":"\#(environment)"\#(more)}"#, user: user))
    }

    private func created(_ answer: PlainHTTP.Answer) throws -> Created {
        #expect(answer.status == 200, "\(answer)")
        let parser = JSONParser()
        let value = try parser.parse(answer.body)
        return Created(
            environment: try #require(value["apnsEnvironment"]?.string),
            token: try #require(value["apnsToken"]?.string), url: try #require(value["webcourierURL"]?.string))
    }

    private func devices(of user: String = "mei") throws -> [Device] {
        try fixture.registry().devices(matching: DeviceFilter(userID: user), after: nil, limit: 99)
    }

    private func deposit(_ payload: String, for client: Created) throws {
        let message = CourierMessage(
            token: try #require(DeviceToken(hexadecimal: client.token)), app: "chat",
            pushID: APNsIdentifier(high: .random(in: 0 ... .max), low: 0), expiresAtMilliseconds: .max,
            payload: Array(payload.utf8))
        let areThere = try fixture.registry().deposit([message], nowMilliseconds: 0)
        #expect(areThere == [true])
    }

    private func fetch(_ path: String) async -> PlainHTTP.Answer {
        await PlainHTTP.requestInBackground("GET", path, port: fixture.server.port)
    }

    @Test(
        "A client without APNs gets a token and a URL, and waits there for each notification", .timeLimit(.minutes(5)))
    func createAndFetch() async throws {
        defer { fixture.server.stop() }
        let client = try create("browser")
        #expect(client.environment == "production" && client.token.utf8.count == 64)
        #expect(client.url.hasPrefix("http://127.0.0.1:\(fixture.server.port)/courier/"))
        let device = try #require(try devices().first)
        #expect(device.platform == .web && device.token.hexadecimal == client.token && device.userID == "mei")
        async let waiting = fetch(client.path)
        try deposit(#"{"aps":{},"ck":{"nid":"1"}}"#, for: client)
        try deposit(#"{"aps":{},"ck":{"nid":"2"}}"#, for: client)
        let first = await waiting
        #expect(first.status == 200 && first.body == #"{"aps":{},"ck":{"nid":"1"}}"#)
        #expect(first.headers["content-type"] == "application/json")
        #expect(first.headers["access-control-allow-origin"] == "*")
        #expect(await fetch(client.path).body == #"{"aps":{},"ck":{"nid":"2"}}"#)
    }

    @Test("Without a notification the answer is empty, when its time has come")
    func nothingComes() async throws {
        fixture.server.stop()
        let patient = try RegistryFixture { $0.courierWaitSecondsMaximum = 0 }
        defer { patient.server.stop() }
        let bearer = try NativeClient.token(patient)
        let path = "/device/1/iCloud.com.example.chat/production/tokens/create"
        let answer = PlainHTTP.request(
            "POST", "\(path)?ckAPIToken=\(bearer)&ckWebAuthToken=mei", port: patient.server.port,
            body: #"{"apnsEnvironment":"production"}"#)
        let client = try created(answer)
        let nothing = PlainHTTP.request("GET", client.path, port: patient.server.port)
        #expect(nothing.status == 204 && nothing.body.isEmpty)
        #expect(nothing.headers["access-control-allow-origin"] == "*")
    }

    /// A server whose clients wait for so many seconds, and a path of one of them.
    private func server(
        waiting seconds: Int, _ change: (inout RegistryServerConfiguration) -> Void = { _ in }
    ) throws -> (fixture: RegistryFixture, path: String) {
        fixture.server.stop()
        let other = try RegistryFixture {
            $0.courierWaitSecondsMaximum = seconds
            change(&$0)
        }
        let answer = PlainHTTP.request(
            "POST",
            "/device/1/iCloud.com.example.chat/production/tokens/create?ckAPIToken=\(try NativeClient.token(other))"
                + "&ckWebAuthToken=mei", port: other.server.port, body: #"{"apnsEnvironment":"production"}"#)
        return (other, try created(answer).path)
    }

    @Test("Of two requests for one client one has the notification, and the other ends", .timeLimit(.minutes(5)))
    func twoRequests() async throws {
        let (patient, path) = try server(waiting: 2)
        defer { patient.server.stop() }
        let port = patient.server.port
        async let one = PlainHTTP.requestInBackground("GET", path, port: port)
        async let other = PlainHTTP.requestInBackground("GET", path, port: port)
        let device = try #require(try patient.registry().devices(matching: DeviceFilter(), after: nil, limit: 9).first)
        let message = CourierMessage(
            token: device.token, app: "chat", pushID: APNsIdentifier(high: 1, low: 1), expiresAtMilliseconds: .max,
            payload: Array("{}".utf8))
        _ = try patient.registry().deposit([message], nowMilliseconds: 0)
        #expect(await [one.status, other.status].sorted() == [200, 204])
    }

    @Test("A URL is a credential: it makes so many requests in a second as any other")
    func rate() async throws {
        let (slow, path) = try server(waiting: 0) { $0.requestsPerSecondMaximum = 1 }
        defer { slow.server.stop() }
        let port = slow.server.port
        let answers = await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await PlainHTTP.requestInBackground("GET", path, port: port) } }
            return await group.reduce(into: [PlainHTTP.Answer]()) { $0.append($1) }
        }
        #expect(answers.contains { $0.status == 204 })
        #expect(answers.contains { $0.status == 429 && $0.headers["retry-after"] == "1" })
    }

    @Test("A made-up secret proves nothing: it takes no place, and counts as a failed authentication")
    func forgedSecrets() async throws {
        let (busy, path) = try server(waiting: 0)
        defer { busy.server.stop() }
        let forged = (1_000..<1_200).map { number in
            PlainHTTP.request(
                "GET", "/courier/\(number)\(String(repeating: "A", count: 39))", port: busy.server.port)
        }
        #expect(forged.allSatisfy { $0.status == 404 || $0.status == 429 })
        #expect(forged.contains { $0.status == 429 && $0.headers["retry-after"] != nil })
        #expect(PlainHTTP.request("GET", path, port: busy.server.port).status == 204)
    }

    @Test("A URL is good at every server of the registry, and what the registry keeps leads nowhere")
    func severalServers() throws {
        defer { fixture.server.stop() }
        let client = try create("browser")
        var configuration = RegistryServerConfiguration(host: "127.0.0.1", port: 0, apps: [], accessKeys: [])
        configuration.courierWaitSecondsMaximum = 0
        let second = try RegistryServer(
            configuration: configuration, registry: try fixture.registry(), reader: try fixture.registry(),
            metrics: MetricsRegistry(), logger: .silent)
        defer { second.stop() }
        #expect(PlainHTTP.request("GET", client.path, port: second.port).status == 204)
        let kept = try #require(try devices().first).token.bytes
        let read = "/courier/\(Base64URL.encode(kept))"
        #expect(PlainHTTP.request("GET", read, port: second.port).status == 404)
    }

    @Test("A client that names itself gets its token again, and all others get another")
    func sameClient() throws {
        defer { fixture.server.stop() }
        let client = try create("browser")
        #expect(try create("browser") == client)
        #expect(try devices().count == 1)
        let others = [
            try create("browser", environment: "development"), try create("another"), try create(), try create(),
            try create("browser", user: "bob"),
        ]
        #expect(Set(others.map(\.token)).union([client.token]).count == 6)
        #expect(Set(others.map(\.url)).union([client.url]).count == 6)
        #expect(try devices().count == 5)
        #expect(try devices(of: "bob").count == 1)
    }

    @Test("A token that the client registers stays one of its platform, even after its device was removed")
    func register() async throws {
        defer { fixture.server.stop() }
        let client = try create("browser")
        let body = #"{"apnsEnvironment":"development","apnsToken":"\#(client.token)"}"#
        #expect(post("register", body).status == 200)
        let device = try #require(try devices().first)
        #expect(try devices().count == 1 && device.platform == .web)
        #expect(try fixture.registry().removeDevice(device.deviceID))
        #expect(await fetch(client.path).status == 404)
        #expect(post("register", body).status == 200)
        #expect(try devices().map(\.platform) == [.web])
        async let waiting = fetch(client.path)
        try deposit("{}", for: client)
        #expect(await waiting.body == "{}")
    }

    @Test("A URL that was never handed out leads nowhere, whatever is wrong with it")
    func unknownSecret() async throws {
        defer { fixture.server.stop() }
        let client = try create("browser")
        let device = try #require(try devices().first)
        #expect(try fixture.registry().removeDevice(device.deviceID))
        let gone = await fetch(client.path)
        #expect(gone.status == 404)
        for path in ["/courier/x", "/courier/\(client.token)", String(client.path.dropLast()), "\(client.path)A"] {
            let answer = await fetch(path)
            #expect(answer.status == 404 && answer.body == gone.body, "\(path)")
        }
        #expect(PlainHTTP.request("POST", client.path, port: fixture.server.port).status == 405)
        #expect(await fetch("/courier").status == 404)
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
        fixture.server.stop()
        let known = try create { $0.publicURL = "https://push.example.com/api" }
        #expect(try created(known).url.hasPrefix("https://push.example.com/api/courier/"))
        #expect(try created(try create { _ in }).url.hasPrefix("http://127.0.0.1:"))
        let unknown = try create { $0.host = "0.0.0.0" }
        #expect(unknown.status == 500 && unknown.body.contains("registry.public_url"))
    }

    @Test("What cannot be is refused")
    func refusals() throws {
        defer { fixture.server.stop() }
        for body in [
            "{}", #"{"apnsEnvironment":"test"}"#, #"{"apnsEnvironment":"production","clientId":1}"#,
            #"{"apnsEnvironment":"production","clientId":""}"#,
            #"{"apnsEnvironment":"production","clientId":"\#(String(repeating: "x", count: 257))"}"#,
        ] {
            #expect(post("create", body).status == 400, "\(body)")
        }
        #expect(try devices().isEmpty)
        let client = try create("browser")
        let native = try NativeClient(fixture)
        func put(_ platform: String, _ token: String) -> Int {
            native.send("PUT", "/v1/devices/d1", #"{"platform":"\#(platform)","token":"\#(token)","app":"chat"}"#)
                .status
        }
        #expect(put("APNS", client.token) == 400)
        #expect(put("WEB", String(repeating: "ab", count: 32)) == 400)
        #expect(put("WEB", client.token) == 201)
    }
}
