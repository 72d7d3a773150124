import Crypto
import JSON
import Notifications
import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("boto3's client of Cognito Sync", .ownThread)
struct CognitoClientTests {
    private func run(_ scenario: String, _ fixture: RegistryFixture) async throws {
        let result = try await fixture.python(scenario)
        #expect(result.exitCode == 0, "if boto3 is missing: apt-get install python3-boto3\n\(result.errors)")
    }

    @Test(
        "It registers, subscribes and unsubscribes, and the registry holds what it said",
        arguments: ServedStore.Kind.allCases)
    func flow(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let result = try await fixture.python("flow")
        #expect(result.exitCode == 0, "if boto3 is missing: apt-get install python3-boto3\n\(result.errors)")
        let identifiers = try #require(JSONParser().parse(result.output).array).compactMap(\.string)
        let registry = try fixture.registry()
        let devices = try identifiers.map { try #require(try registry.device($0)) }
        #expect(devices.map(\.platform) == [.apnsSandbox, .apns, .gcm, .adm, .adm])
        #expect(devices.allSatisfy { $0.app == "chat" && $0.identityPoolID == RegistryFixture.pool })
        #expect(devices[0].token.hexadecimal == String(repeating: "ab", count: 32))
        #expect(devices[2].token.bytes == Array("eXampl3:APA91b_google-token".utf8))
        #expect(devices[3].token == devices[2].token && devices[4].token.bytes.count == 1_026)
        #expect(try registry.datasetSubscriptions(of: devices[0].deviceID).datasetNames == ["notes"])
        #expect(try registry.deviceCount() == 5)
    }

    @Test(
        "The configuration of a pool is kept and given back, and what is not supported is refused",
        arguments: ServedStore.Kind.allCases)
    func poolConfiguration(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        try await run("pool_configuration", fixture)
    }

    @Test("Only a client that knows a secret is admitted, and only to the pools of its key")
    func credentials() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("credentials", fixture)
        #expect(try fixture.registry().deviceCount() == 1)
    }

    @Test("A clock may be five minutes wrong, either way, and not six")
    func skewedClock() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("skewed_clock", fixture)
    }

    @Test("What is changed after it was signed is refused, and changes nothing")
    func tampered() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("tampered", fixture)
        #expect(try fixture.registry().deviceCount() == 0)
    }

    @Test("Bad parameters are refused by the names that the client knows")
    func badParameters() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("bad_parameters", fixture)
    }

    @Test("The twelve operations on datasets raise what the client's model has for each, once it is known who asks")
    func datasetOperations() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("dataset_operations", fixture)
    }

    @Test("Only a signed request learns which paths there are")
    func unknownPaths() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("unknown_paths", fixture)
    }

    @Test("Datasets may be called . and .., whose paths are signed without them", arguments: ServedStore.Kind.allCases)
    func dottedDatasets(_ kind: ServedStore.Kind) async throws {
        let fixture = try await RegistryFixture(kind)
        defer { fixture.server.stop() }
        let result = try await fixture.python("dotted_datasets")
        #expect(result.exitCode == 0, "\(result.errors)")
        let device = result.output.split(whereSeparator: \.isNewline).joined()
        let names = try fixture.registry().datasetSubscriptions(of: device).datasetNames
        #expect(names.sorted() == [".", "..", "notes"])
    }

    @Test("A key that asks too often is told when to come again, and the others are served")
    func limits() async throws {
        let fixture = try RegistryFixture {
            $0.requestsPerSecondMaximum = 1
            $0.apps[0].identityPoolIDs.append("us-east-1:00000000-2c08-43f0-9983-28727e0a1b2c")
            $0.accessKeys[1] = .init(identifier: "AKIDLIMITED", secret: RegistryFixture.secret)
        }
        defer { fixture.server.stop() }
        try await run("limits", fixture)
    }

    @Test("A client that guesses is soon told to wait; one that knows is served at the same address")
    func guesses() async throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        try await run("guesses", fixture)
    }

    @Test("It comes by TLS as well")
    func tls() async throws {
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        let fixture = try RegistryFixture { $0.identity = (identity.certificateChainPEM, identity.privateKeyPEM) }
        defer { fixture.server.stop() }
        let anchor = try fixture.folder.write("anchor.pem", identity.certificateChainPEM)
        let result = try await fixture.python(
            "flow", endpoint: "https://localhost:\(fixture.server.port)", environment: ["AWS_CA_BUNDLE": anchor])
        #expect(result.exitCode == 0, "\(result.errors)")
    }
}
