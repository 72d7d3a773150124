import Foundation
import PushTestKit
import Testing

@Suite("apus doctor")
struct DoctorCommandTests {
    private static let password = "s3cr3t/of:mei"
    private static let relayPassword = "w0rd-of-the-relay"
    private static let secret = "xHPZ41ICxHPZ41ICxHPZ41IC"

    /// The text of each file of a bundle.
    private func files(of folder: TemporaryFolder, _ name: String) throws -> [String: String] {
        let path = "\(folder.path)/\(name)"
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try names.reduce(into: [:]) { $0[$1] = try String(contentsOfFile: "\(path)/\($1)", encoding: .utf8) }
    }

    @Test("The bundle of a working deployment has every part, and no password, key, payload or whole token")
    func working() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(2)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let port = try #require(worker.adminPortSoFar)
        let push = #"{"app":"chat","deviceIds":["device-0"],"notification":{"body":"the body of mei"}}"#
        try await fixture.publish([
            TestEvents.event("1", "push.requested", push),
            WorkerFixture.datasetChanged("2", identity: 1, syncCount: 1),
        ])
        _ = try await fixture.accepted(reachingDevices: 2)
        let token = TestDevices.token(0)
        // The program's own log has none of this; another writer's might.
        let log = """
            {"level":"error","event":"foreign","token":"\(token)","password":"\(Self.password)"}
            {"level":"info","event":"chatter"}
            a line with \(Self.secret) and \(Self.relayPassword) that is no JSON
            """
        try fixture.folder.write("worker.log", log)
        let encoded = Self.password.replacing("/", with: "%2F").replacing(":", with: "%3A")
        let result = try await CommandRunner.apus(
            ["doctor", "--output", "bundle", "--log", "worker.log"],
            environment: [
                "APUS_ADMIN_LISTEN": "127.0.0.1:\(port)",
                "APUS_RABBITMQ_MANAGEMENT_URL": "http://mei:\(encoded)@127.0.0.1:1",
                "APUS_REGISTRY_ACCESS_KEYS": "AKIDEXAMPLE \(Self.secret)",
                "APUS_RELAY_URL": "postgresql://apus:\(Self.relayPassword)@127.0.0.1:1/shop",
            ], in: fixture.folder)
        #expect(result.exitCode == 0 && result.output.contains("bundle has 12 files"), "\(result)")
        let files = try files(of: fixture.folder, "bundle")
        let expected = [
            "system.txt": "variables: APUS_ADMIN_LISTEN APUS_RABBITMQ_MANAGEMENT_URL",
            "configuration.txt": "rabbitmq.namespace = \"\(fixture.namespace)\"", "readyz.json": #""status":"ok""#,
            "livez.json": #""status":"ok""#, "version.json": #""name":"apus""#,
            "metrics.txt": #"apus_pushes_total{app="chat",service="apns",outcome="accepted"} 2"#,
            "dead-letters.txt": "none",
            "topology.txt": "\(fixture.namespace).work: present", "queues.txt": "dead letters: 0",
            "checks.txt": "FAILED  outbox: The outbox postgresql://127.0.0.1:1/shop is out of reach",
            "log.ndjson": #""event":"foreign""#, "problems.txt": "warning: ",
        ]
        #expect(Set(files.keys) == Set(expected.keys))
        for (name, text) in expected { #expect(files[name]?.contains(text) == true, "\(name): \(files[name] ?? "")") }
        let key = try fixture.folder.read("key.p8").split(separator: "\n")[1]
        let forbidden = [
            Self.password, Self.relayPassword, encoded, Self.secret, token, TestDevices.token(1), "the body of mei",
            String(key),
        ]
        for (name, text) in files {
            for secret in forbidden { #expect(!text.contains(secret), "\(name) has \(secret)") }
        }
        #expect(files["log.ndjson"]?.contains("\(token.prefix(8))…") == true)
        #expect(files["log.ndjson"]?.contains("chatter") == false)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(fixture.folder.path)/bundle")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        await worker.drainCleanly()
        try await fixture.stop()
    }

    @Test("Where nothing works, the bundle says what could not be had and why, and still succeeds")
    func broken() async throws {
        let folder = try TemporaryFolder()
        try folder.write("apus.toml", "[rabbitmq]\nurl = \"amqp://127.0.0.1:1\"\n[admin]\nlisten = \"127.0.0.1:1\"\n")
        let result = try await CommandRunner.apus(["doctor", "--output", "bundle", "--json"], in: folder)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.output.contains(#"{"name":"metrics.txt","written":false,"note":"no worker answers at"#))
        #expect(result.output.contains(#"{"name":"topology.txt","written":false,"#))
        let files = try files(of: folder, "bundle")
        #expect(files["problems.txt"]?.contains("error: ") == true)
        #expect(files["checks.txt"]?.contains("FAILED  broker") == true)
        let again = try await CommandRunner.apus(["doctor", "--output", "bundle"], in: folder)
        #expect(again.exitCode == 73 && again.errors.contains("name another folder"))
        let missing = try await CommandRunner.apus(["doctor", "--log", "no.log"], in: folder)
        #expect(missing.exitCode == 66 && missing.errors.contains("cannot read no.log"))
    }
}
