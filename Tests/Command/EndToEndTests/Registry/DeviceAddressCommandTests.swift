import Foundation
import PushTestKit
import Testing

/// `apus device` for devices of every platform.
struct DeviceAddressCommandTests {
    private static let google = "cKb0eXampl3:APA91bF-token_of_google"
    private static let endpoint = "https://updates.push.services.mozilla.com/wpush/v2/gAAAAexample"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: [String], input: String = "", registry: String = "registry") async throws
        -> CommandResult
    {
        let environment = ["APUS_REGISTRY_URL": "sqlite:\(folder.path)/\(registry).db"]
        return try await CommandRunner.apus(arguments, input: input, environment: environment, in: folder)
    }

    private func add(_ name: String, _ arguments: String..., input: String = "") async throws {
        let result = try await apus(["device", "add", "--app", "chat", "--id", name] + arguments, input: input)
        #expect(result.exitCode == 0 && result.output == "\(name)\n", "\(result)")
    }

    private func addAll() async throws {
        try await add("a-apple", "--token", "ab12")
        try await add("b-google", "--platform", "GCM", "--token", Self.google)
        try await add("c-fid", "--platform", "GCM", "--token", "cRGsb7Zy60eXlDS9qw1T2-")
        try await add("d-told", "--platform", "GCM", "--token", "cRGsb7Zy60eXlDS9qw1T2_", "--target", "token")
        try await add("e-digits", "--platform", "GCM", "--token", "3a31323334")
        try await add("f-amazon", "--platform", "ADM", "--token", "3132" + String(repeating: "x", count: 1_000))
        try await add(
            "g-browser", "--endpoint", Self.endpoint, "--p256dh", SampleAddress.publicKeys[0], "--auth", Self.secret,
            "--expires", "9000000000000")
        let json =
            "{\n  \"endpoint\": \"\(Self.endpoint)/2\",\n  \"expirationTime\": null,\n  \"keys\": {"
            + "\"p256dh\": \"\(SampleAddress.publicKeys[1])\", \"auth\": \"\(Self.secret)\"}\n}\n"
        try await add("h-standard", "--platform", "WEB_PUSH", "--subscription", "-", input: json)
        try folder.write("subscription.json", json.replacing("/2", with: "/3"))
        try await add("i-file", "--subscription", "subscription.json")
    }

    @Test("Devices of every service are added and shown, whole only if that is asked for")
    func addedAndShown() async throws {
        try await addAll()
        let listed = try await apus(["device", "list"])
        for line in [
            "a-apple\tAPNS\tchat\tab12…(2 bytes)", "b-google\tGCM\tchat\tcKb0eXam…(35 characters)",
            "c-fid\tGCM\tchat\tcRGsb7Zy…(22 characters)", "e-digits\tGCM\tchat\t:1…(5 characters)",
            "f-amazon\tADM\tchat\t3132xxxx…(1004 characters)",
            "g-browser\tWEB_PUSH\tchat\tupdates.push.services.mozilla.com…(\(Self.endpoint.utf8.count) bytes)",
        ] { #expect(listed.output.contains(line), "\(listed.output)") }
        let shown = try await apus(["device", "show", "g-browser"])
        #expect(shown.output.contains("expiresAt") && shown.output.contains("9000000000000 ms"), "\(shown)")
        for secret in [Self.secret, "gAAAA", SampleAddress.publicKeys[0]] { #expect(!shown.output.contains(secret)) }
        let whole = try await apus(["device", "show", "g-browser", "--show-token"])
        for secret in [Self.secret, Self.endpoint, SampleAddress.publicKeys[0]] {
            #expect(whole.output.contains(secret), "\(whole)")
        }
        let json = try await apus(["device", "show", "g-browser", "--json"])
        #expect(json.output.contains(#""expiresAt":9000000000000"#) && !json.output.contains(Self.secret))
        #expect(try await apus(["device", "show", "c-fid", "--json"]).output.contains(#""target":"fid""#))
    }

    @Test("What is listed whole can be imported elsewhere, and is the same there")
    func roundTrip() async throws {
        try await addAll()
        let listed = try await apus(["device", "list", "--json", "--show-token"])
        let lines = listed.output.split(separator: "\n")
        #expect(lines.count == 9)
        #expect(lines[1].contains(#""token":"\#(Self.google)","target":"token""#), "\(lines[1])")
        #expect(lines[3].contains(#""target":"token""#) && lines[4].contains(#""token":":1234""#), "\(lines[4])")
        #expect(lines[6].contains(#""subscription":{"endpoint":"\#(Self.endpoint)","expirationTime":9000000000000,"#))
        let imported = try await apus(["device", "import"], input: listed.output, registry: "other")
        #expect(imported.exitCode == 0 && imported.output == "imported 9 devices\n", "\(imported)")
        let copy = try await apus(["device", "list", "--json", "--show-token"], registry: "other")
        #expect(copy.output == listed.output)
    }

    @Test("Hexadecimal digits are a token of GCM as they were, and a token of such digits is written so itself")
    func digits() async throws {
        // As 1.0.0 wrote a token: the digits of its text.
        let old = Self.google.utf8.map { String($0, radix: 16) }.joined()
        let line = #"{"deviceId":"d","platform":"GCM","token":"\#(old)","app":"chat"}"#
        #expect(try await apus(["device", "import"], input: line).exitCode == 0)
        let listed = try await apus(["device", "list", "--json", "--show-token"])
        #expect(listed.output.contains(#""token":"\#(Self.google)""#), "\(listed)")
        // The text 6162, whose digits are 36313632.
        try await add("d", "--platform", "GCM", "--token", "36313632")
        #expect(try await apus(["device", "list"]).output.contains("61…(4 characters)"))
        let again = try await apus(["device", "list", "--json", "--show-token"])
        #expect(again.output.contains(#""token":"36313632""#), "\(again)")
        #expect(try await apus(["device", "import"], input: again.output).exitCode == 0)
        #expect(try await apus(["device", "list", "--json", "--show-token"]).output == again.output)
    }

    @Test("A device that is added again by its address keeps its identifier, at each service its own")
    func identifiers() async throws {
        var identifiers: [String] = []
        for platform in ["GCM", "ADM", "GCM", "ADM"] {
            let result = try await apus(["device", "add", "--app", "chat", "--platform", platform, "--token", "same"])
            identifiers.append(result.output)
        }
        #expect(identifiers[0] == identifiers[2] && identifiers[1] == identifiers[3])
        #expect(identifiers[0] != identifiers[1])
    }

    @Test(
        "What does not belong together, or cannot be pushed to, is refused with the reason",
        arguments: [
            (["--platform", "ADM"], "--token is missing"),
            (["--platform", "WNS", "--token", "x"], "APNS, APNS_SANDBOX, GCM, ADM, WEB or WEB_PUSH"),
            (["--platform", "ADM", "--token", "a b"], "printable"),
            (["--platform", "ADM", "--token", "x", "--target", "fid"], "only tokens of GCM have a target"),
            (["--platform", "GCM", "--token", "x", "--endpoint", "https://a/"], "--endpoint is not for GCM"),
            (["--subscription", "-", "--token", "x"], "--token is not for WEB_PUSH"),
            (["--subscription", "-", "--auth", "x"], "leave out --auth"),
            (["--endpoint", "https://a/"], "--p256dh is missing"),
            (["--endpoint", "https://a/", "--p256dh", "BCVx", "--auth", secret], "must have 65 bytes, and it has 3"),
            (["--platform", "WEB_PUSH"], "--endpoint is missing"),
            (
                ["--endpoint", "http://a/", "--p256dh", SampleAddress.publicKeys[0], "--auth", secret],
                "must begin with https://"
            ),
            (
                [
                    "--endpoint", "https://a/", "--p256dh", SampleAddress.publicKeys[0], "--auth", secret, "--expires",
                    "1000",
                ], "it ended at 1970-01-01T00:00:01.000Z"
            ),
        ])
    func refused(_ arguments: [String], _ reason: String) async throws {
        let result = try await apus(["device", "add", "--app", "chat"] + arguments)
        #expect(result.exitCode == 64 && result.errors.contains(reason), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/registry.db"))
    }

    @Test("A subscription that is no JSON, or not there, ends with the code that tells it")
    func unreadable() async throws {
        let garbage = try await apus(["device", "add", "--app", "chat", "--subscription", "-"], input: "{")
        #expect(garbage.exitCode == 65 && garbage.errors.contains("not JSON"), "\(garbage)")
        let missing = try await apus(["device", "add", "--app", "chat", "--subscription", "none.json"])
        #expect(missing.exitCode == 66 && missing.errors.contains("none.json"), "\(missing)")
    }
}
