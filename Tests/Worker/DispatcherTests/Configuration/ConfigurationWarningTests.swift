import Glibc
import PushTestKit
import Testing
import WorkerConfiguration

@Suite("What to know about a configuration")
struct ConfigurationWarningTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private static let quiet = "[rabbitmq]\nurl = \"amqp://apus:secret@h/\"\n" + ConfigurationFixture.app

    @Test("A good configuration has no warnings")
    func noWarnings() throws { #expect(try fixture.load(Self.quiet).warnings == []) }

    @Test("A key or a password that others may read, guest, a small prefetch and a short ladder are worth a warning")
    func warnings() throws {
        func keys(_ text: String, set: [(String, String)] = [], mode: Int = 0o600) throws -> [String] {
            try fixture.load(text, set: set, mode: mode).warnings.map(\.key)
        }
        #expect(try keys(Self.quiet, mode: 0o644) == ["rabbitmq.url"])
        #expect(try keys(ConfigurationFixture.app) == ["rabbitmq.url"])
        #expect(try keys(Self.quiet, set: [("rabbitmq.prefetch", "99")]) == ["rabbitmq.prefetch"])
        #expect(try keys(Self.quiet, set: [("retry.delays", "1s")]) == ["retry.delays"])
        #expect(try keys(Self.quiet, set: [("worker.push_timeout", "31s")]) == ["worker.drain_timeout"])
        try fixture.folder.write("open.p8", fixture.folder.read("key.p8"), mode: 0o640)
        let warned = try fixture.load(Self.quiet, set: [("app.0.apns.key_file", "\(fixture.folder.path)/open.p8")])
        #expect(warned.warnings.map(\.remedy) == ["run 'chmod 600 \(fixture.folder.path)/open.p8'"])
    }

    @Test(
        "A file of another owner may be open to its group, and to no others",
        .enabled(if: geteuid() == 0, "only root can give a file to another owner"))
    func groups() throws {
        for (mode, warnings) in [(0o640, 0), (0o644, 1)] {
            let path = try fixture.folder.write("group.p8", fixture.folder.read("key.p8"), mode: mode)
            #expect(chown(path, 65_534, 0) == 0)
            let loaded = try fixture.load(Self.quiet, set: [("app.0.apns.key_file", path)])
            #expect(loaded.warnings.count == warnings, "\(loaded.warnings)")
        }
    }

    @Test("A variable that no key has is a warning with what was probably meant")
    func unknownVariable() throws {
        let environment = [
            "APUS_RABBITMQ_PREFECH": "1", "APUS_APP_0_APNS_KEYID": "x", "APUS_CONFIG": "y", "OTHER": "z",
        ]
        let warnings = try fixture.load(Self.quiet, environment: environment).warnings.map(\.description)
        #expect(
            warnings == [
                "environment variable APUS_APP_0_APNS_KEYID: no configuration key has this variable; "
                    + "did you mean APUS_APP_0_APNS_KEY_ID?",
                "environment variable APUS_RABBITMQ_PREFECH: no configuration key has this variable; "
                    + "did you mean APUS_RABBITMQ_PREFETCH?",
            ])
    }
}
