import PushTestKit
import RegistryCore
import Testing
import WorkerConfiguration

@Suite("The configuration of the registry's API")
struct RegistryAPIConfigurationTests {
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    @Test("Access keys come from the configuration and from a file, and their secrets are shown nowhere")
    func accessKeys() throws {
        let fixture = try ConfigurationFixture()
        try fixture.folder.write(
            "keys", "# mine\n\n  AKIDC   s3cr3ts3cr3ts3cr3tC \(Self.pool)\r\nAKIDD s3cr3ts3cr3ts3cr3tD\n")
        let text =
            "[registry]\naccess_keys = [\"AKIDA s3cr3ts3cr3ts3cr3tA\", \"AKIDB s3cr3ts3cr3ts3cr3tB \(Self.pool)\"]\n"
            + "access_keys_file = \"keys\"\n" + ConfigurationFixture.app
        let loaded = try fixture.load(text)
        let keys = loaded.configuration.registryAPI.accessKeys
        #expect(keys.map(\.identifier) == ["AKIDA", "AKIDB", "AKIDC", "AKIDD"])
        #expect(keys.map(\.secret.revealed) == ["A", "B", "C", "D"].map { "s3cr3ts3cr3ts3cr3t\($0)" })
        #expect(keys.map(\.identityPools) == [[], [Self.pool], [Self.pool], []])
        var dumped = ""
        dump(loaded, to: &dumped)
        for printed in ["\(loaded)", dumped, loaded.effectiveText, loaded.effectiveJSON] {
            #expect(!printed.contains("s3cr3t"), "\(printed)")
        }
        #expect(loaded.effectiveText.contains("AKIDA [redacted]"))
    }

    @Test("Quotas have defaults, take whole numbers from 0, and 0 is no limit")
    func quotas() throws {
        let fixture = try ConfigurationFixture()
        let standard = try fixture.load(ConfigurationFixture.app).configuration.registryAPI.quotas
        #expect(standard == .standard)
        #expect(standard[.subscriptionsPerOwner] == 1_000 && standard[.subscriptionBytesPerOwner] == 1 << 20)
        #expect(standard[.subscriptionsPerApp] == nil)
        let loaded = try fixture.load(
            "[registry.quotas]\nsubscriptions_per_owner = 0\ntopics_per_owner = 7\n" + ConfigurationFixture.app,
            environment: ["APUS_REGISTRY_QUOTAS_SUBSCRIPTIONS_PER_APP": "5"])
        let quotas = loaded.configuration.registryAPI.quotas
        #expect(quotas[.subscriptionsPerOwner] == nil && quotas[.topicsPerOwner] == 7)
        #expect(quotas[.subscriptionsPerApp] == 5 && quotas[.devicesPerOwner] == 1_000)
        let bad = ("registry.quotas.devices_per_owner", "-1")
        #expect(try fixture.problems(ConfigurationFixture.app, set: [bad]).count == 1)
        let unknown = ("registry.quotas.devices_per_owners", "1")
        #expect(try "\(fixture.problems(ConfigurationFixture.app, set: [unknown]))".contains("devices_per_owner"))
    }

    @Test("The environment gives several keys with commas between them")
    func environment() throws {
        let fixture = try ConfigurationFixture()
        let loaded = try fixture.load(
            ConfigurationFixture.app,
            environment: ["APUS_REGISTRY_ACCESS_KEYS": "A s3cr3ts3cr3ts3cr3t, B s3cr3ts3cr3ts3cr3t"])
        #expect(loaded.configuration.registryAPI.accessKeys.map(\.identifier) == ["A", "B"])
        #expect(loaded.configuration.registryAPI.listen == nil)
    }

    @Test(
        "What is wrong with a key is told without its secret",
        arguments: [
            "A", "A short", "a.b s3cr3ts3cr3ts3cr3t", "A s3cr3ts3cr3ts3cr3t nonsense",
            "A s3cr3ts3cr3ts3cr3t, A s3cr3ts3cr3ts3cr3t",
        ])
    func badKeys(keys: String) throws {
        let fixture = try ConfigurationFixture()
        let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.access_keys", keys)])
        #expect(problems.count == 1)
        #expect(!"\(problems)".contains("s3cr3t"))
    }

    @Test(
        "An address that other machines reach needs a certificate, or a word that it does not",
        arguments: [("0.0.0.0:80", 1), ("[::]:80", 1), ("127.example:80", 1), ("127.0.0.1:80", 0), ("[::1]:80", 0)])
    func openAddress(address: String, count: Int) throws {
        let fixture = try ConfigurationFixture()
        let listen = ("registry.listen", address)
        #expect(try fixture.problems(ConfigurationFixture.app, set: [listen]).count == count)
        #expect(
            try fixture.problems(ConfigurationFixture.app, set: [listen, ("registry.insecure", "true")]).isEmpty)
    }

    @Test("The URL by which clients come has a scheme and a host, and no slash at its end")
    func publicURL() throws {
        let fixture = try ConfigurationFixture()
        let loaded = try fixture.load("[registry]\npublic_url = \"https://a.example/b/\"\n" + ConfigurationFixture.app)
        #expect(loaded.configuration.registryAPI.publicURL == "https://a.example/b")
        #expect(try fixture.load(ConfigurationFixture.app).configuration.registryAPI.publicURL == nil)
        for wrong in ["a.example", "ftp://a.example", "https://", "https:///b", "https://a.example?b", "https://a b"] {
            let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.public_url", wrong)])
            #expect(problems.count == 1, "\(wrong)")
        }
    }

    @Test("Hosts are names without ports, and proxies are addresses in numbers")
    func hostsAndProxies() throws {
        let fixture = try ConfigurationFixture()
        let loaded = try fixture.load(
            "[registry]\nhosts = [\"a.example\"]\nconnections_per_address = 0\ntrusted_proxies = [\"::1\"]\n"
                + "[admin]\nhosts = [\"*\"]\n" + ConfigurationFixture.app)
        let api = loaded.configuration.registryAPI
        #expect(api.hosts == ["a.example"] && api.connectionsPerAddressMaximum == 0 && api.trustedProxies == ["::1"])
        #expect(loaded.configuration.admin.hosts == ["*"])
        for (key, value) in [
            ("registry.hosts", "a.example:80"), ("admin.hosts", "https://a"),
            ("registry.trusted_proxies", "10.0.0.0/8"),
        ] {
            #expect(try fixture.problems(ConfigurationFixture.app, set: [(key, value)]).count == 1, "\(key)")
        }
    }

    @Test("Server keys name an app of the configuration and a file with a public key")
    func serverKeys() throws {
        let fixture = try ConfigurationFixture()
        try fixture.folder.write("public.pem", Self.publicKey)
        try fixture.folder.write("other.pem", "nothing")
        let name = "\(fixture.folder.path)/public.pem"
        let text = "[registry]\nserver_keys = [\"a1 chat read public.pem\", \"b chat write \(name) mei\"]\n"
        let loaded = try fixture.load(text + ConfigurationFixture.app)
        let keys = loaded.configuration.registryAPI.serverKeys
        #expect(keys.map(\.identifier) == ["a1", "b"] && keys.map(\.userID) == ["a1", "mei"])
        #expect(keys.map(\.permission) == [.read, .write] && keys.map(\.app) == ["chat", "chat"])
        #expect(keys[1].publicKeyFile == name && keys[0].publicKeyFile.hasSuffix("/public.pem"))
        for wrong in [
            "a", "a chat read", "a chat none \(name)", "a.b chat read \(name)", "a mail read \(name)",
            "a chat read \(fixture.folder.path)/nowhere.pem", "a chat read \(fixture.folder.path)/other.pem",
            "a chat read \(name) b c", "a chat read \(name), a chat write \(name)",
        ] {
            let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.server_keys", wrong)])
            #expect(problems.count == 1, "\(wrong): \(problems)")
        }
    }

    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5tW2lpzef68cdiF+X5wa72ohpUi0
        HRWvIDbkcdVl8MasL0WqYr3Z2rb/WMO+v2u6EZD2/AA4uAXkaho+tNW4Wg==
        -----END PUBLIC KEY-----
        """

    @Test("Origins have a scheme and a host, and nothing behind them")
    func allowedOrigins() throws {
        let fixture = try ConfigurationFixture()
        let text = "[registry]\nallowed_origins = [\"https://A.example\", \"http://localhost:3000\", \"*\"]\n"
        let loaded = try fixture.load(text + ConfigurationFixture.app)
        #expect(
            loaded.configuration.registryAPI.allowedOrigins == ["https://a.example", "http://localhost:3000", "*"])
        #expect(try fixture.load(ConfigurationFixture.app).configuration.registryAPI.allowedOrigins.isEmpty)
        let wrong = ["a.example", "https://a.example/", "https://", "https://*.example", "ftp://a", "https://a b"]
        let ports = ["https://a.example:", "https://a:0", "https://a:08443", "https://a:65536", "https://a:1:2"]
        for wrong in wrong + ports {
            let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.allowed_origins", wrong)])
            #expect(problems.count == 1, "\(wrong): \(problems)")
        }
    }

    @Test("A port that browsers leave out of an origin is refused, because such an origin would match none")
    func defaultPorts() throws {
        let fixture = try ConfigurationFixture()
        for (origin, plain) in [
            ("https://A.example:443", "https://a.example"), ("http://localhost:80", "http://localhost"),
            ("https://[::1]:443", "https://[::1]"),
        ] {
            let problems = try fixture.problems(ConfigurationFixture.app, set: [("registry.allowed_origins", origin)])
            #expect(
                problems == [
                    "set registry.allowed_origins: \"\(origin)\" matches no page, because browsers omit the default "
                        + "port; omit it: \(plain)"
                ])
        }
        for origin in ["https://a.example:80", "http://a.example:443", "https://[::1]:8443"] {
            let loaded = try fixture.load(ConfigurationFixture.app, set: [("registry.allowed_origins", origin)])
            #expect(loaded.configuration.registryAPI.allowedOrigins == [origin])
        }
    }

    @Test("Readable secrets are warned of")
    func warnings() throws {
        let fixture = try ConfigurationFixture()
        try fixture.folder.write("keys", "A s3cr3ts3cr3ts3cr3t\n", mode: 0o644)
        let loaded = try fixture.load("[registry]\naccess_keys_file = \"keys\"\n" + ConfigurationFixture.app)
        #expect(loaded.warnings.contains { $0.key == "registry.access_keys_file" && $0.remedy.contains("chmod 600") })
    }
}
