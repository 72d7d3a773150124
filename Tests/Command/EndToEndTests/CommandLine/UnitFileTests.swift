import Crypto
import Foundation
import PushTestKit
import Testing

@Suite("The units of systemd and the configuration of the package")
struct UnitFileTests {
    private static let deploy = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../deploy").standardizedFileURL

    private static let services = [
        "apus@.service", "apus-registry.service", "apus-webhooks.service", "apus-analytics.service",
        "apus-relay.service",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: deploy.appendingPathComponent(path), encoding: .utf8)
    }

    /// A folder with the units; their program is one that is there, because the package need not be installed.
    private static func units() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in services + ["apus.target"] {
            try folder.write(name, text("systemd/\(name)").replacing("/usr/bin/apus", with: "/bin/true"))
        }
        return folder
    }

    @Test("systemd understands every line of the units")
    func verifies() async throws {
        let folder = try Self.units()
        let result = try await CommandRunner.run(
            "/usr/bin/env",
            ["SYSTEMD_UNIT_PATH=\(folder.path):/lib/systemd/system", "systemd-analyze", "verify", "--man=no"]
                + Self.services.map { $0.replacing("@", with: "@1") } + ["apus.target"], in: folder)
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
    }

    @Test("The exposure of each service is at most 1.5", arguments: services)
    func exposure(unit: String) async throws {
        let folder = try Self.units()
        let result = try await CommandRunner.run(
            "/usr/bin/systemd-analyze",
            ["security", "--offline=true", "--threshold=15", "--no-pager", "\(folder.path)/\(unit)"], in: folder)
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test(
        "No service leaves a core with its keys; what connects to strangers' addresses reaches no cloud's services"
    )
    func coresAndAddresses() throws {
        for unit in Self.services {
            let lines = try Self.text("systemd/\(unit)").split(separator: "\n")
            #expect(lines.contains("LimitCORE=0"), "\(unit)")
            guard ["apus@.service", "apus-webhooks.service"].contains(unit) else { continue }
            #expect(lines.contains("IPAddressDeny=169.254.0.0/16"), "\(unit)")
        }
    }

    @Test("Each unit's command has its options, and the removal of the package stops every unit")
    func commands() async throws {
        let folder = try TemporaryFolder()
        let removal = try Self.text("debian/apus.prerm")
        for unit in Self.services {
            let lines = try Self.text("systemd/\(unit)").split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("ExecStart=/usr/bin/apus ") })
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let help = try await CommandRunner.apus(words + ["--help"], in: folder)
            #expect(help.exitCode == 0 && help.output.hasPrefix("apus \(words[0]):"), "\(help)")
            #expect(removal.contains(unit.replacing("@", with: "@*")), "\(unit)")
        }
    }

    @Test("The package's configuration with its example app is valid, and so is every variable of the units")
    func configuration() async throws {
        let folder = try TemporaryFolder()
        let key = try folder.write("key.p8", ES256PrivateKey.generate().pem)
        let lines = try Self.text("debian/apus.toml").split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "# [[app]]"))
        let app = lines[start...].map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0 }
        try folder.write("apus.toml", (lines[..<start] + app).joined(separator: "\n"))
        for unit in ["apus@.service", "apus-registry.service"] {
            let variables = try Self.text("systemd/\(unit)").split(separator: "\n")
                .filter { $0.hasPrefix("Environment=APUS_") && !$0.contains("APUS_CONFIG") }
                .map { String($0.dropFirst("Environment=".count)).replacing("%i", with: "1") }
            #expect(!variables.isEmpty)
            let result = try await CommandRunner.run(
                "/usr/bin/env",
                variables + ["APUS_APP_0_APNS_KEY_FILE=\(key)", CommandRunner.apusPath, "check", "--values"], in: folder
            )
            #expect(result.exitCode == 0, "\(result)")
            #expect(!result.errors.contains("no configuration key"), "\(result)")
            #expect(result.output.contains("127.0.0.1:946"), "\(result)")
        }
    }
}
