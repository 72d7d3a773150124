import JSON
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
        #expect(client.url.hasPrefix("http://localhost/courier/"))
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

    @Test("Of two requests for one client the older ends, and one has the notification", .timeLimit(.minutes(5)))
    func twoRequests() async throws {
        defer { fixture.server.stop() }
        let client = try create()
        async let one = fetch(client.path)
        async let other = fetch(client.path)
        try deposit("{}", for: client)
        // Whichever was answered first may leave the other waiting alone.
        async let third = fetch(client.path)
        try deposit("{}", for: client)
        let bodies = await [one, other, third]
        try #require(bodies.allSatisfy { $0.status == 200 || $0.status == 204 }, "\(bodies)")
        #expect(bodies.contains { $0.status == 200 && $0.body == "{}" })
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

    @Test("The operator's URL comes before what the client says, and what it says is looked at")
    func addresses() throws {
        defer { fixture.server.stop() }
        let proxied = try RegistryFixture { $0.publicURL = "https://push.example.com/api" }
        defer { proxied.server.stop() }
        let bearer = try NativeClient.token(proxied)
        func create(_ fixture: RegistryFixture, host: String, bearer: String) -> PlainHTTP.Answer {
            let body = #"{"apnsEnvironment":"production"}"#
            return PlainHTTP.exchange(
                "POST /database/1/iCloud.com.example.chat/production/tokens/create?ckAPIToken=\(bearer)"
                    + "&ckWebAuthToken=mei HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)", fixture.server.port)
        }
        let known = create(proxied, host: "elsewhere", bearer: bearer)
        #expect(try created(known).url.hasPrefix("https://push.example.com/api/courier/"))
        let named = create(fixture, host: "[::1]:8080", bearer: token)
        #expect(try created(named).url.hasPrefix("http://[::1]:8080/courier/"))
        #expect(create(fixture, host: "a/b", bearer: token).status == 400)
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
