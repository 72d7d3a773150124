import PushTestKit
import Testing
import WorkerConfiguration

@Suite("What is wrong with a configuration")
struct ConfigurationProblemTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    @Test("All problems come at once, in the order of the file, with line, key and remedy")
    func allAtOnce() throws {
        let text = """
            [rabitmq]
            [rabbitmq]
            prefech = 10
            prefetch = 0
            url = "http://x"
            [retry]
            delays = ["1s", "soon"]
            max_attempts = "ten"
            listen = ""
            [[app]]
            name = "chat room"
            [app.apns]
            key_id = "abc"
            connections = 65
            """
        let problems = try fixture.problems(text, environment: ["APUS_LOG_LEVEL": "loud"])
        #expect(
            problems == [
                "1 rabitmq: unknown key; did you mean 'rabbitmq'?",
                "3 rabbitmq.prefech: unknown key; did you mean 'rabbitmq.prefetch'?",
                "4 rabbitmq.prefetch: 0 is invalid; give a whole number from 1 to 65535",
                "5 rabbitmq.url: the URL does not begin with amqp:// or amqps://; "
                    + "write amqp://USER:PASSWORD@HOST:PORT/VHOST or amqps://…",
                #"7 retry.delays: ["1s", "soon"] is invalid; give a list of durations from "1ms" to "168h", "#
                    + "with the units ms, s, m or h",
                #"8 retry.max_attempts: "ten" is invalid; give a whole number from 1 to 1000"#,
                "9 retry.listen: unknown key; 'listen' belongs to [registry] or [admin]",
                #"11 app.0.name: "chat room" is invalid; "#
                    + "it must be letters and digits of ASCII and any of . - _, for example chat",
                #"13 app.0.apns.key_id: "abc" is invalid; give ten capital letters and digits, "#
                    + "as shown in Apple's developer account",
                "14 app.0.apns.connections: 65 is invalid; give a whole number from 1 to 64",
                #"APUS_LOG_LEVEL log.level: "loud" is invalid; give one of "debug", "info", "warning", "error""#,
                "default app.0.bundle_id: missing; it is required; set it in the file or as APUS_APP_0_BUNDLE_ID",
                "default app.0.apns.key_file: missing; it is required; "
                    + "set it in the file or as APUS_APP_0_APNS_KEY_FILE",
                "default app.0.apns.team_id: missing; it is required; set it in the file or as APUS_APP_0_APNS_TEAM_ID",
            ])
    }

    @Test("A key that is like no other is answered with all that there are")
    func unknownKey() throws {
        let problems = try fixture.problems(ConfigurationFixture.app, set: [("a.b", "c")])
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix("set a.b: unknown key; known keys: rabbitmq.url, rabbitmq.ca_file, "))
    }

    @Test(
        "Each value that is out of its range or of the wrong kind is refused",
        arguments: [
            "rabbitmq.prefetch=65536", "rabbitmq.prefetch=-1", "rabbitmq.prefetch=1.5", "rabbitmq.namespace=",
            "rabbitmq.namespace=a.b", "rabbitmq.url=", "rabbitmq.url=amqp://", "rabbitmq.url=amqp://h:99999/",
            "rabbitmq.url=amqp://u:p@q@h/", "rabbitmq.url=amqp://u:%zz@h/", "rabbitmq.url=amqp://h/a/b",
            "rabbitmq.url=amqp://h/?heartbeat=1", "rabbitmq.ca_file=/no/such/file", "registry.url=registry.db",
            "registry.url=sqlite:", "registry.url=sqlite::memory:", "registry.url=postgres://u:p@q@h/d",
            "retry.delays=",
            "retry.delays=5s,1s", "retry.delays=1s,1s", "retry.delays=1s,1000ms", "retry.delays=1d",
            "retry.delays=1s,2s,3s,4s,5s,6s,7s,8s,9s,10s,11s,12s,13s,14s,15s,16s,17s", "retry.delays=169h",
            "retry.max_attempts=0", "retry.max_age=0s", "retry.max_age=99999999999999999999h", "retry.max_age=-1s",
            "retry.server_error_delay=1", "admin.listen=9464", "admin.listen=h:70000", "admin.listen=a b:1",
            "log.level=INFO", "log.format=xml", "worker.drain_timeout=2h", "worker.push_timeout=10ms",
            "worker.declare_topology=yes", "app.0.bundle_id=a_b", "app.0.identity_pools=nonsense",
            "app.0.identity_pools=us-east-1:XYZ", "app.0.apns.key_id=abc123defg", "app.0.apns.team_id=ABC",
            "app.0.apns.endpoint=http://h:80", "app.0.apns.endpoint=h", "app.0.apns.endpoint=h:0",
            "app.0.apns.endpoint=https://h/path", "app.0.apns.connections=0", "app.256.name=x", "app.-1.name=x",
            "app.x.name=y",
        ])
    func outOfRange(assignment: String) throws {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let problems = try fixture.problems(ConfigurationFixture.app, set: [(parts[0], parts[1])])
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.hasPrefix("set \(parts[0]): ") == true)
    }

    @Test("A PostgreSQL registry on another machine should be verified, and its password kept from others")
    func postgres() throws {
        func warnings(_ url: String, mode: Int = 0o600) throws -> String {
            let text = ConfigurationFixture.app + "[registry]\nurl = \"\(url)\""
            return try fixture.load(text, for: .tool, mode: mode).warnings.map { "\($0)" }.joined(separator: "\n")
        }
        #expect(try !warnings("postgresql://h/d?sslmode=verify-full").contains("registry.url"))
        #expect(try !warnings("postgresql:///d?host=/run/postgresql").contains("registry.url"))
        #expect(try !warnings("postgresql://localhost/d").contains("registry.url"))
        #expect(try warnings("postgresql://h/d?sslmode=require").contains("sslmode=verify-full"))
        let shared = try warnings("postgres://u:secret@localhost/d", mode: 0o644)
        #expect(shared.contains("chmod 600") && !shared.contains("secret"))
    }

    @Test("A PostgreSQL URL that cannot be read is refused without a word of it")
    func unreadablePostgres() throws {
        for url in ["postgresql://u:se@cret@h/d", "postgres://u:se/cret@h/d", "postgresql://u:cret@h:x/d"] {
            let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.url", url)])
            #expect(problems.count == 1 && !problems[0].contains("cret@"), "\(problems)")
        }
    }

    @Test("Two apps may have neither the same name nor the same identity pool")
    func duplicates() throws {
        let pool = "identity_pools = [\"us-east-1:ab\"]\n"
        let app = ConfigurationFixture.app.split(separator: "\n").joined(separator: "\n")
        let text = [app, app].map { $0.split(separator: "[app.apns]").joined(separator: pool + "[app.apns]") }
            .joined(separator: "\n")
        let problems = try fixture.problems(text)
        #expect(
            problems == [
                #"10 app.1.name: app 0 has the name "chat" as well; give each app its own name"#,
                #"12 app.1.identity_pools: "us-east-1:ab" also belongs to app 0; list a pool once, in one app"#,
            ])
    }

    @Test("A file that is missing, a folder, not UTF-8 or not TOML is one problem")
    func brokenFile() throws {
        func problem(_ path: String) throws -> String {
            let error = try #require(throws: ConfigurationError.self) {
                try ConfigurationLoader(path: path, environment: [:]).load(for: .worker)
            }
            #expect(error.problems.count == 1)
            return ConfigurationFixture.shortened(error.problems[0])
        }
        #expect(
            try problem("/no/such/apus.toml").hasPrefix("0 : cannot read the configuration: there is no such file;"))
        #expect(try problem(fixture.folder.path).contains("it is a folder"))
        #expect(try problem(fixture.folder.write("a", "x = 1\n[y")).hasPrefix("2 : this is not TOML: "))
        #expect(try problem(fixture.folder.write("b", [0x61, 0x3D, 0x22, 0xFF, 0x22])).contains("this is not TOML"))
        let huge = [UInt8](repeating: 0x0A, count: 2 << 20)
        #expect(try problem(fixture.folder.write("c", huge)).contains("longer than"))
    }

    @Test("A worker without an app is told where to get one")
    func noApp() throws {
        #expect(
            try fixture.problems("") == ["0 app: there is no app; add a section [[app]]; 'apus init' writes a sample"])
    }

    @Test("Sections of the wrong shape are refused")
    func wrongShapes() throws {
        let text = "rabbitmq = 1\n[app]\nname = \"x\""
        #expect(
            try fixture.problems(text) == [
                "1 rabbitmq: rabbitmq is not a table; write [rabbitmq] and its keys below",
                "2 app: app is not a list; write [[app]], with two brackets",
            ])
        #expect(
            try fixture.problems("app = [1]")[0]
                == "1 app.0: the app is a whole number; write [[app]] and its keys below")
        #expect(try fixture.problems("[[app]]\napns = 5")[0] == "2 app.0.apns: not a table; write [app.apns]")
    }

    @Test("A key that is missing, empty, not PEM, damaged, RSA or of another curve is refused with its path")
    func keyFiles() async throws {
        let folder = fixture.folder
        for (name, arguments) in [
            ("rsa.p8", ["genpkey", "-algorithm", "RSA", "-out", "rsa.p8"]),
            ("p384.p8", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "p384.p8"]),
        ] {
            let made = try await CommandRunner.run("/usr/bin/openssl", arguments, in: folder)
            #expect(made.exitCode == 0, "\(name): \(made.errors)")
        }
        try folder.write("empty.p8", "")
        try folder.write("text.p8", "hello")
        try folder.write("damaged.p8", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
        for name in ["absent.p8", "empty.p8", "text.p8", "damaged.p8", "rsa.p8", "p384.p8"] {
            let problems = try fixture.problems(
                ConfigurationFixture.app, set: [("app.0.apns.key_file", "\(folder.path)/\(name)")])
            #expect(problems.count == 1, "\(name): \(problems)")
            #expect(problems.first?.contains(name) == true)
        }
    }

    @Test("A trust anchor that holds no certificate is refused")
    func trustAnchor() throws {
        let problems = try fixture.problems(ConfigurationFixture.app, set: [("app.0.apns.ca_file", fixture.keyPath)])
        #expect(problems.first?.contains("holds no certificate") == true)
    }

    @Test("A secret's variable and its file variable exclude each other, and the file has to be there")
    func secretTwice() throws {
        let both = ["APUS_RABBITMQ_URL": "amqp://h/", "APUS_RABBITMQ_URL_FILE": "/no/such"]
        #expect(
            try fixture.problems(ConfigurationFixture.app, environment: both) == [
                "APUS_RABBITMQ_URL_FILE rabbitmq.url: APUS_RABBITMQ_URL is also set; set only one of them"
            ])
        let absent = ["APUS_RABBITMQ_URL_FILE": "/no/such"]
        #expect(
            try fixture.problems(ConfigurationFixture.app, environment: absent) == [
                "APUS_RABBITMQ_URL_FILE rabbitmq.url: cannot read /no/such: there is no such file; check the path"
            ])
    }
}
