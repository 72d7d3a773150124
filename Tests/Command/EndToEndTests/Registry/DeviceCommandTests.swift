import Foundation
import PushTestKit
import Testing

/// `apus device` and `apus dataset`, run as a person or a script runs them.
struct DeviceCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func apus(_ arguments: String..., input: String = "", registry: String? = nil) async throws -> CommandResult
    {
        let environment = ["APUS_REGISTRY_URL": "sqlite:\(registry ?? folder.path + "/registry.db")"]
        return try await CommandRunner.apus(arguments, input: input, environment: environment, in: folder)
    }

    @Test("A device that is added can be shown, listed and removed")
    func deviceLife() async throws {
        let token = String(repeating: "ab", count: 32)
        let added = try await apus(
            "device", "add", "--app", "chat", "--token", token, "--id", "d1", "--identity-pool", "p:0",
            "--identity", "i:0",
            "--dataset", "settings", "--topic", "news", "--json")
        #expect(added.exitCode == 0, "\(added.errors)")
        #expect(added.output.contains(#""deviceId":"d1""#) && added.output.contains(#""datasets":["settings"]"#))
        #expect(!added.output.contains(token))

        let shown = try await apus("device", "show", "d1")
        #expect(shown.exitCode == 0 && shown.output.contains("settings") && !shown.output.contains(token))
        let whole = try await apus("device", "show", "d1", "--show-token")
        #expect(whole.output.contains(token))
        let listed = try await apus("device", "list", "--identity", "i:0")
        #expect(listed.output.split(separator: "\n").count == 2 && listed.output.contains("d1\tAPNS\tchat\tabab"))

        let removed = try await apus("device", "remove", "d1", "d2", "--json")
        #expect(removed.exitCode == 65)
        #expect(removed.output == #"{"removed":1,"notFound":["d2"]}"# + "\n")
        #expect(removed.errors.contains("d2"))
        let gone = try await apus("device", "show", "d1")
        #expect(gone.exitCode == 65 && gone.output.isEmpty && gone.errors.contains("d1"))
    }

    @Test("A device is given tokens of further kinds, shows them shortened, and loses them one by one")
    func furtherTokens() async throws {
        _ = try await apus("device", "add", "--app", "chat", "--token", "ab12", "--id", "d1")
        let call = String(repeating: "cd", count: 32)
        #expect(try await apus("device", "token", "add", "d1", "--kind", "voip", "--token", call).exitCode == 0)
        #expect(try await apus("device", "token", "add", "d1", "--kind", "widgets", "--token", "ef").exitCode == 0)
        let shown = try await apus("device", "show", "d1")
        #expect(shown.output.contains("voip token") && !shown.output.contains(call), "\(shown)")
        let listed = try await apus("device", "list", "--json", "--show-token")
        #expect(listed.output.contains(#""tokens":{"voip":"\#(call)","widgets":"ef"}"#), "\(listed)")
        #expect(try await apus("device", "token", "remove", "d1", "--kind", "widgets").exitCode == 0)
        let again = try await apus("device", "token", "remove", "d1", "--kind", "widgets")
        #expect(again.exitCode == 65 && again.errors.contains("widgets"))
        let copy = try await apus("device", "import", input: listed.output)
        #expect(copy.exitCode == 0, "\(copy)")
        #expect(try await apus("device", "list", "--json", "--show-token").output == listed.output)
        #expect(try await apus("device", "token", "add", "none", "--kind", "voip", "--token", "01").exitCode == 65)
        #expect(try await apus("device", "token", "add", "d1", "--kind", "voip", "--token", "ab12").exitCode == 65)
        #expect(try await apus("device", "token", "add", "d1", "--kind", "alert", "--token", "01").exitCode == 64)
    }

    @Test("A device without an identifier gets one, and keeps it when its token is added again")
    func identifierIsMade() async throws {
        let first = try await apus("device", "add", "--app", "chat", "--token", "ab12")
        let second = try await apus("device", "add", "--app", "chat", "--token", "AB12")
        let other = try await apus("device", "add", "--app", "mail", "--token", "ab12")
        #expect(first.exitCode == 0 && first.output.count == 33 && first.output == second.output)
        #expect(other.exitCode == 0 && other.output != first.output)
        #expect(first.errors.contains("no [[app]] named \"chat\""))
    }

    @Test(
        "What is typed wrongly is refused with the exit code 64 and the way to the help",
        arguments: [
            ["device", "add", "--app", "chat"], ["device", "add", "--app", "chat", "--token", "abc"],
            ["device", "add", "--app", "chat", "--token", ""],
            ["device", "add", "--app", "chat", "--token", String(repeating: "ab", count: 300)],
            ["device", "add", "--app", "chat", "--token", "ab", "--platform", "WNS"],
            ["device", "add", "--app", "chat", "--token", "ab", "--platform", "WEB"], ["device", "show"],
            ["device", "remove"], ["device", "list", "--limit", "0"], ["device", "nonsense"],
            ["dataset", "subscribe", "d"],
            ["dataset", "unsubscribe", "d"], ["dataset", "list"],
        ])
    func usageErrors(_ arguments: [String]) async throws {
        let environment = ["APUS_REGISTRY_URL": "sqlite:\(folder.path)/registry.db"]
        let result = try await CommandRunner.apus(arguments, environment: environment, in: folder)
        #expect(result.exitCode == 64 && result.output.isEmpty && result.errors.contains("--help"))
    }

    @Test("Names that differ by their normal form only are two, and control characters are refused")
    func lookalikes() async throws {
        let names = ["\u{e9}", "e\u{301}"]
        for (number, name) in names.enumerated() {
            let added = try await apus(
                "device", "add", "--app", "chat", "--token", "a\(number)", "--id", name, "--user", name, "--topic", name
            )
            #expect(added.exitCode == 0, "\(added.errors)")
        }
        let listed = try await apus("device", "list", "--user", names[0], "--json")
        #expect(listed.output.utf8.contains(0xc3) && !listed.output.utf8.contains(0xcc))
        #expect(try await apus("topic", "list", "--app", "chat").output.split(separator: "\n").count >= 2)
        #expect(try await apus("device", "remove", names[0]).exitCode == 0)
        #expect(try await apus("device", "show", names[1]).exitCode == 0)
        for (option, value) in [("--id", "a\u{1}"), ("--user", "a\u{85}"), ("--topic", "a\nb")] {
            let refused = try await apus("device", "add", "--app", "chat", "--token", "ab", option, value)
            #expect(refused.exitCode == 65 && refused.errors.contains("without control characters"), "\(refused)")
        }
    }

    @Test("Names that are not acceptable are refused with the exit code 65")
    func badNames() async throws {
        let long = String(repeating: "x", count: 257)
        let tooLong = try await apus("device", "add", "--app", "chat", "--token", "ab", "--id", long)
        #expect(tooLong.exitCode == 65 && tooLong.errors.contains("257 bytes"))
        let half = try await apus("device", "add", "--app", "chat", "--token", "ab", "--identity", "i:0")
        #expect(half.exitCode == 65 && half.errors.contains("pool"))
        let bob = try await apus(
            "device", "add", "--app", "chat", "--token", "ab", "--identity-pool", "p:0", "--identity", "bob")
        #expect(bob.exitCode == 65, "\(bob)")
        #expect(bob.errors.contains(#"The identity "bob" is invalid; it must be REGION:ID"#), "\(bob)")
        let digits = try await apus("device", "add", "--app", "chat", "--token", "zz")
        #expect(digits.errors.contains("must be hexadecimal digits (0-9, a-f), and character 1 is none"), "\(digits)")
    }

    @Test("Datasets are subscribed to, left, and taken all at once")
    func datasets() async throws {
        for name in ["a", "b"] {
            _ = try await apus(
                "device", "add", "--app", "chat", "--token", "0\(name)", "--id", name, "--identity-pool", "p:0",
                "--identity", "i:0")
        }
        let subscribed = try await apus("dataset", "subscribe", "a", "settings", "profile")
        #expect(subscribed.exitCode == 0 && subscribed.output == "profile\nsettings\n", "\(subscribed.errors)")
        let all = try await apus("dataset", "subscribe-all", "b", "--future", "--json")
        #expect(all.output == #"{"deviceId":"b","datasets":["profile","settings"],"futureDatasets":true}"# + "\n")
        _ = try await apus("dataset", "subscribe", "a", "later")
        let listed = try await apus("dataset", "list", "b")
        #expect(listed.output == "later\nprofile\nsettings\n*\n")
        let left = try await apus("dataset", "unsubscribe", "b", "later", "none", "--future")
        #expect(left.exitCode == 65 && left.output == "profile\nsettings\n" && left.errors.contains("none"))
        let unknown = try await apus("dataset", "subscribe-all", "b", "--dataset", "unheard-of")
        #expect(unknown.exitCode == 65 && unknown.errors.contains("unheard-of"))
        let nobody = try await apus("dataset", "subscribe", "nobody", "settings")
        #expect(nobody.exitCode == 65 && nobody.errors.contains("nobody"))
        let badName = try await apus("dataset", "subscribe", "a", "not a name")
        #expect(badName.exitCode == 65 && badName.errors.contains("not a name"))
    }

    @Test("A registry that cannot be used ends with a code that tells why")
    func unusableRegistry() async throws {
        let missing = try await apus("device", "list", registry: folder.path + "/none.db")
        #expect(missing.exitCode == 69 && missing.errors.contains("/none.db"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none.db"))
        try folder.write("garbage.db", String(repeating: "garbage ", count: 1_000))
        let garbage = try await apus("device", "list", registry: folder.path + "/garbage.db")
        #expect(garbage.exitCode == 69 && garbage.errors.contains("integrity_check"))
        let noFolder = try await apus(
            "device", "add", "--app", "chat", "--token", "ab", registry: folder.path + "/none/registry.db")
        #expect(noFolder.exitCode == 69 && noFolder.errors.contains("folder"))
    }

    @Test("A registry in a folder that may not be written ends with the exit code 77")
    func unwritableFolder() async throws {
        _ = try await apus("device", "add", "--app", "chat", "--token", "ab", "--id", "d1")
        let attributes = [FileAttributeKey.posixPermissions: 0o555]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: folder.path)
        let file = [FileAttributeKey.posixPermissions: 0o444]
        try FileManager.default.setAttributes(file, ofItemAtPath: folder.path + "/registry.db")
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
        let outside = try TemporaryFolder()
        let arguments = ["device", "add", "--app", "chat", "--token", "cd", "--id", "d2"]
        // Root may write everything, so it drops that right first.
        let isRoot = geteuid() == 0
        let drop = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        let result = try await CommandRunner.run(
            isRoot ? "/usr/bin/setpriv" : CommandRunner.apusPath,
            isRoot ? drop + [CommandRunner.apusPath] + arguments : arguments,
            environment: ["APUS_REGISTRY_URL": "sqlite:\(folder.path)/registry.db"], in: outside)
        #expect(result.exitCode == 77, "\(result.errors)")
        #expect(result.errors.contains("cannot be written"))
    }

    @Test("Every command about devices and datasets teaches by examples", arguments: ["device", "dataset"])
    func help(_ group: String) async throws {
        let overview = try await apus(group, "--help")
        #expect(overview.exitCode == 0)
        let commands =
            group == "device"
            ? ["add", "remove", "list", "show", "import"] : ["subscribe", "unsubscribe", "subscribe-all", "list"]
        for command in commands {
            #expect(overview.output.contains(command))
            let help = try await apus(group, command, "--help")
            #expect(
                help.exitCode == 0 && help.output.contains("Examples:\n  apus \(group) \(command)"), "\(help.output)")
        }
    }
}
