import Crypto
import Glibc
import HTTPServer
import JSON
import OperatorPage
import PushTestKit
import Synchronization
import Testing

@Suite("The page's files and its doors")
struct PageSecurityTests {
    @Test("The page and its files come with a strict policy, and the files are known by their tag")
    func files() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let redirect = await fixture.send("GET", "/ui")
        #expect(redirect.status == 308 && redirect.headers["location"] == "ui/")
        let page = await fixture.send("GET", "/ui/")
        #expect(page.status == 200 && page.body.contains("<html"))
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.headers["cache-control"] == "no-store")
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
        #expect(page.headers["x-content-type-options"] == "nosniff")
        let script = await fixture.send("GET", "/ui/assets/app.js")
        #expect(script.status == 200 && script.headers["content-type"] == "text/javascript; charset=utf-8")
        let tag = try #require(script.headers["etag"])
        #expect(script.headers["cache-control"] == "no-cache")
        let known = await fixture.send("GET", "/ui/assets/app.js", ["If-None-Match": "\"x\", \(tag)"])
        #expect(known.status == 304 && known.body.isEmpty)
        for path in ["/ui/assets/nothing.js", "/ui/assets/", "/ui/assets/../app.js", "/ui/x", "/ui//"] {
            #expect(await fixture.send("GET", path).status == 404, "\(path)")
        }
        #expect(await fixture.send("POST", "/ui/", json: "{}").status == 405)
        #expect(await fixture.send("GET", "/livez").status == 200)
    }

    /// Go 1.25's order (`net/http`, `CrossOriginProtection`).
    @Test(
        "A request that changes something is taken from the page itself and from programs, and from no other site",
        arguments: [
            (["Sec-Fetch-Site": "same-origin"], true), (["Sec-Fetch-Site": "none"], true),
            (["Sec-Fetch-Site": "same-site"], false), (["Sec-Fetch-Site": "cross-site"], false),
            (["Sec-Fetch-Site": "cross-site", "Origin": "https://ops.example.com"], true),
            (["Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"], true),
            ([:], true), (["Origin": "http://localhost:1"], true), (["Origin": "http://LOCALHOST:1"], true),
            (["Origin": "http://localhost:2"], false), (["Origin": "http://evil.example"], false),
            (["Origin": "null"], false), (["Origin": ""], false), (["Sec-Fetch-Site": ""], false),
        ])
    func crossOrigin(fields: [String: String], isTaken: Bool) async throws {
        let fixture = try PageFixture { $0.allowedOrigins = ["https://ops.example.com"] }
        defer { fixture.stop() }
        var fields = fields
        fields["Host"] = "localhost:1"
        let answer = await fixture.post("dead-letters/preview", #"{"action":"purge","filter":{}}"#, fields)
        #expect(answer.status == (isTaken ? 200 : 403))
        #expect(answer.errorCode == (isTaken ? "" : "cross-origin"))
        // Reading is no harm: the browser does not show the answer to the other site.
        #expect(await fixture.get("session", fields).status == 200)
    }

    @Test("Without a login the page is for this machine's users, and for none whom a proxy stands for")
    func local() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let session = try JSONParser().parse(await fixture.get("session").body)
        #expect(session["user"]?.string == "local" && session["role"]?.string == "operator")
        #expect(session["login"]?.string == "none" && session["canAct"]?.bool == true)
        for field in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"] {
            let answer = await fixture.get("session", [field: "10.0.0.9"])
            #expect(answer.status == 403 && answer.errorCode == "off", "\(field)")
            #expect(await fixture.send("GET", "/ui/", [field: "10.0.0.9"]).status == 403)
        }
        // A name of any site may lead here, so a page of that site would count as the page itself.
        let open = try PageFixture { $0.servesAllHosts = true }
        defer { open.stop() }
        #expect(await open.get("session").errorCode == "off")
    }

    @Test("A name and a password open the page with the user's role, and a removed user is out within seconds")
    func basic() async throws {
        let lines = try ["maria operator", "tv viewer"].map { user in
            "\(user) \(try PasswordHash(of: Array("secret of \(user.prefix { $0 != " " })".utf8)).text)"
        }
        let reads = SharedText("# users\n\n" + lines.joined(separator: "\n") + "\n")
        let fixture = try PageFixture { $0.readUsers = { Array(reads.text.utf8) } }
        defer { fixture.stop() }
        let closed = await fixture.send("GET", "/ui/")
        #expect(closed.status == 401)
        #expect(closed.headers["www-authenticate"]?.hasPrefix("Basic realm=") == true)
        let maria = PageFixture.basic("maria", "secret of maria")
        for _ in 0..<2 {
            let session = try JSONParser().parse(await fixture.get("session", maria).body)
            #expect(session["user"]?.string == "maria" && session["role"]?.string == "operator")
            #expect(session["login"]?.string == "basic")
        }
        let preview = #"{"action":"purge","filter":{}}"#
        let viewer = PageFixture.basic("tv", "secret of tv")
        #expect(await fixture.get("dead-letters", viewer).status == 200)
        let refused = await fixture.post("dead-letters/preview", preview, viewer)
        #expect(refused.status == 403 && refused.errorCode == "forbidden")
        #expect(await fixture.post("dead-letters/preview", preview, maria).status == 200)
        for wrong in [
            PageFixture.basic("maria", "secret of tv"), PageFixture.basic("nobody", "x"), ["Authorization": "Basic !"],
            ["Authorization": "Bearer x"], PageFixture.basic("", ""),
        ] {
            #expect(await fixture.get("session", wrong).status == 401)
        }
        reads.text = lines[1]
        try await eventually("maria to be out", equals: 401) { await fixture.get("session", maria).status }
        reads.text = "maria operator not-a-hash"
        try await eventually("an unreadable file to be said", equals: 503) {
            await fixture.get("session", viewer).status
        }
    }

    @Test("Guesses of a password are slowed down, and a known password goes on to open the page")
    func guesses() async throws {
        let hash = try PasswordHash(of: Array("right password".utf8)).text
        let fixture = try PageFixture { $0.readUsers = { Array("maria operator \(hash)".utf8) } }
        defer { fixture.stop() }
        let right = PageFixture.basic("maria", "right password")
        #expect(await fixture.get("session", right).status == 200)
        let statuses = await withTaskGroup { group in
            for guess in 0..<40 {
                group.addTask { await fixture.get("session", PageFixture.basic("maria", "guess \(guess)")).status }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(statuses == [401, 429])
        #expect(await fixture.get("session", right).status == 200)
    }

    @Test("Wrong passwords of one name keep no other name of the address out, and not the name at other addresses")
    func guessesAtOneName() async throws {
        let names = (1...11).map { "operator-\($0)" }
        let hash = try PasswordHash(of: Array("right password".utf8)).text
        let fixture = try PageFixture { configuration in
            configuration.readUsers = { Array(names.map { "\($0) operator \(hash)\n" }.joined().utf8) }
            configuration.trustedProxies = ["127.0.0.2"]
        }
        defer { fixture.stop() }
        func status(_ name: String, _ password: String, behind address: String) async -> Int {
            var fields = PageFixture.basic(name, password)
            fields["X-Forwarded-For"] = "6.6.6.6, \(address)"
            return await fixture.send("GET", "/ui/api/session", fields, from: "127.0.0.2").status
        }
        // Many at once, because the budget grows while passwords are verified.
        var wrong: [Int] = []
        repeat {
            wrong += await withTaskGroup { [first = wrong.count] group in
                for number in first..<first + 20 {
                    group.addTask { await status(names[0], "guess \(number)", behind: "10.0.0.1") }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        } while !wrong.contains(429) && wrong.count < 200
        #expect(wrong.contains(401) && wrong.contains(429), "\(wrong)")
        // All at once, and each as a browser does it: with several requests.
        let statuses = await withTaskGroup { group in
            for name in names.dropFirst() {
                for _ in 0..<3 { group.addTask { await status(name, "right password", behind: "10.0.0.1") } }
            }
            group.addTask { await status(names[0], "right password", behind: "10.0.0.2") }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 31])
    }

    @Test("Guesses over many names of one address come to an end, and other addresses do not notice")
    func guessesOverNames() async throws {
        let hash = try PasswordHash(of: Array("right password".utf8)).text
        let clock = Watched<UInt64>(0)
        let fixture = try PageFixture { configuration in
            configuration.readUsers = { Array("maria operator \(hash)".utf8) }
            configuration.nowNanoseconds = { clock.value }
        }
        defer { fixture.stop() }
        func guess(_ number: Int) async -> Int {
            let fields = PageFixture.basic("name-\(number)", "guess")
            return await fixture.send("GET", "/ui/api/session", fields, from: "127.0.0.3").status
        }
        for number in 0..<40 { #expect(await guess(number) == 401) }
        #expect(await guess(40) == 429)
        clock.update { $0 += 250_000_000 }
        #expect(await guess(41) == 401)
        #expect(await guess(42) == 429)
        #expect(await fixture.get("session", PageFixture.basic("maria", "right password")).status == 200)
    }

    @Test("A trusted proxy names the user, and nobody else can")
    func proxy() async throws {
        let fixture = try PageFixture { configuration in
            configuration.userHeader = "X-Forwarded-User"
            configuration.trustedProxies = ["127.0.0.2"]
            configuration.operators = ["maria"]
        }
        defer { fixture.stop() }
        func session(_ user: String?, from source: String) async -> PlainHTTP.Answer {
            var fields = ["X-Forwarded-For": "6.6.6.6, 10.0.0.9"]
            fields["X-Forwarded-User"] = user
            return await fixture.send("GET", "/ui/api/session", fields, from: source)
        }
        let maria = try JSONParser().parse(await session("maria", from: "127.0.0.2").body)
        #expect(maria["role"]?.string == "operator" && maria["login"]?.string == "proxy")
        let anna = try JSONParser().parse(await session("anna", from: "127.0.0.2").body)
        #expect(anna["role"]?.string == "viewer")
        #expect(await session(nil, from: "127.0.0.2").status == 401)
        #expect(await session("a b", from: "127.0.0.2").status == 401)
        let forged = await session("maria", from: "127.0.0.1")
        #expect(forged.status == 403 && forged.errorCode == "off")
    }

    @Test("The users' file is read strictly, and says which line is wrong")
    func usersFile() throws {
        let hash = try PasswordHash(of: Array("password".utf8))
        let users = try PageUsers(Array("maria operator \(hash.text)\r\n#x\n tv\tviewer \(hash.text)".utf8))
        #expect(users.entries.map(\.name) == ["maria", "tv"])
        #expect(users["maria"]?.hash.matches(Array("password".utf8)) == true)
        #expect(users["maria"]?.hash.matches(Array("Password".utf8)) == false)
        for (file, line) in [
            ("maria operator", 1), ("\nmaria admin \(hash.text)", 2), ("maria viewer \(hash.text) more", 1),
            ("a:b viewer \(hash.text)", 1), ("maria viewer $scrypt$ln=30,r=8,p=1$00112233445566778899$00", 1),
            ("maria viewer \(hash.text)\nmaria operator \(hash.text)", 2),
        ] {
            let problem = try #require(throws: PageUsers.Problem.self) { try PageUsers(Array(file.utf8)) }
            #expect(problem.description.hasPrefix("line \(line) "), "\(problem)")
            #expect(!problem.description.contains("$"))
        }
    }

    @Test("Bodies are bounded, JSON and complete, and what the API does not have is said")
    func bodies() async throws {
        let fixture = try PageFixture()
        defer { fixture.stop() }
        let long = "{\"deviceId\":\"" + String(repeating: "x", count: 300_000) + "\"}"
        #expect(await fixture.post("explain", long).status == 413)
        #expect(await fixture.post("explain", "{}", ["Content-Type": "text/plain"]).status == 415)
        #expect(await fixture.post("explain", "{}", ["Content-Encoding": "gzip"]).status == 415)
        for (path, body) in [
            ("explain", "{"), ("explain", "[]"), ("explain", #"{"deviceId":"d","x":1}"#),
            ("explain", #"{"deviceId":1}"#), ("dead-letters/preview", #"{"action":"purge"}"#),
            ("dead-letters/preview", #"{"action":"burn","filter":{}}"#),
            ("dead-letters/preview", #"{"action":"purge","filter":{"resaon":"x"}}"#),
            ("dead-letters/preview", #"{"action":"purge","filter":{},"ids":["00"]}"#),
        ] {
            let answer = await fixture.post(path, body)
            #expect(answer.status == 400 && answer.errorCode == "invalid", "\(path) \(body): \(answer)")
        }
        #expect(await fixture.get("nothing").errorCode == "not-found")
        #expect(await fixture.send("DELETE", "/ui/api/now").status == 405)
        #expect(await fixture.get("dead-letters?limit=x").errorCode == "invalid")
    }
}

/// A text that a test changes while a server reads it.
final class SharedText: Sendable {
    private let storage: Mutex<String>
    var text: String {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    init(_ text: String) { storage = Mutex(text) }
}
