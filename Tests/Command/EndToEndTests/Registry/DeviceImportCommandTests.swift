import Foundation
import PushTestKit
import Testing

/// `apus device import`.
struct DeviceImportCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        let environment = ["APUS_REGISTRY_URL": "sqlite:\(folder.path)/registry.db"]
        return try await CommandRunner.apus(arguments, input: input, environment: environment, in: folder)
    }

    private func line(_ number: Int, prefix: String = "d") -> String {
        let token = String(repeating: "0", count: 64 - "\(number)".count) + "\(number)"
        return #"{"deviceId":"\#(prefix)\#(number)","platform":"APNS","token":"\#(token)","app":"chat","#
            + #""identityPoolId":"p:0","identityId":"i:\#(number)","datasets":["settings"],"topics":["news"]}"#
    }

    @Test("A file may begin with a byte order mark, and a whole number may be written with a fraction of zero")
    func otherPrograms() async throws {
        let line = line(1).dropLast() + #","registeredAt":1700000000000.0}"#
        for end in ["\n", "\r\n"] {
            let result = try await apus("device", "import", input: "\u{feff}" + line + end)
            #expect(result.exitCode == 0 && result.output.contains("imported 1 devices"), "\(result)")
        }
    }

    @Test("Lines that are not right are reported by number, and the rest is imported")
    func badLines() async throws {
        let bad = [
            (#"{"deviceId":"x"#, "JSON"), ("[]", "object"), ("17", "object"),
            (#"{"platform":"APNS","token":"ab","app":"chat"}"#, "\"deviceId\" is missing"),
            (#"{"deviceId":"x","platform":"APNS","token":"abc","app":"chat"}"#, "even number"),
            (#"{"deviceId":"x","platform":"APNS","token":"","app":"chat"}"#, "it has 0"),
            (#"{"deviceId":"x","platform":"APNS","token":"zz","app":"chat"}"#, "character 1 is none"),
            (#"{"deviceId":"x","platform":"APNS","token":"\#(String(repeating: "ab", count: 300))","app":"c"}"#, "512"),
            (#"{"deviceId":"x","platform":"WNS","token":"ab","app":"chat"}"#, "APNS_SANDBOX"),
            (#"{"deviceId":"x","platform":"ADM","token":"a b","app":"chat"}"#, "printable"),
            (#"{"deviceId":"x","platform":"ADM","token":"ab","target":"fid","app":"chat"}"#, "only tokens of GCM"),
            (#"{"deviceId":"x","platform":"GCM","token":"00ff","app":"chat"}"#, "these hexadecimal digits are no text"),
            (#"{"deviceId":"x","platform":"WEB_PUSH","token":"ab","app":"chat"}"#, "\"token\" is not for WEB_PUSH"),
            (#"{"deviceId":"x","platform":"WEB_PUSH","app":"chat"}"#, "\"subscription\" is missing"),
            (#"{"deviceId":"x","platform":"WEB_PUSH","app":"chat","subscription":{}}"#, "no object \"keys\""),
            (#"{"deviceId":"x","platform":"GCM","token":"ab","app":"chat","subscription":{}}"#, "is not for GCM"),
            (#"{"deviceId":"x","platform":"WEB","token":"ab","app":"chat"}"#, "tokens/create"),
            (#"{"deviceId":7,"platform":"APNS","token":"ab","app":"chat"}"#, "must be a string"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","identityID":"i"}"#, "mean identityId?"),
            (
                #"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","identityPoolId":"p:0","#
                    + #""identityId":"bob"}"#, "must be REGION:ID"
            ),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","identityId":"i:0"}"#, "pool"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","datasets":["s"]}"#, "no identity"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","topics":"news"}"#, "array"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","topics":[7]}"#, "entry"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","registeredAt":"now"}"#, "registeredAt"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","tokens":{"phone":"01"}}"#, "pushtotalk"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","tokens":{"voip":"0"}}"#, "tokens.voip"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","tokens":{"voip":"ab"}}"#, "alert token"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","app":"mail"}"#, "\"app\" is there twice"),
            (#"{"deviceId":"x","platform":"APNS","token":"ab","app":"chat","registeredAt":7.5}"#, "registeredAt"),
            (String(repeating: "[", count: 1_000), "JSON"), (String(repeating: "x", count: 400_000), "longer"),
        ]
        var lines: [String] = []
        for (index, entry) in bad.enumerated() { lines += [line(index), entry.0, ""] }
        let result = try await apus("device", "import", "--json", input: lines.joined(separator: "\n"))
        #expect(result.exitCode == 65)
        #expect(
            result.output.hasPrefix(
                #"{"imported":\#(bad.count),"badLines":\#(bad.count),"lines":\#(bad.count * 3 - 1),"#))
        let reports = result.errors.split(separator: "\n").filter { $0.hasPrefix("line ") }
        #expect(reports.count == bad.count)
        for (index, (report, entry)) in zip(reports, bad).enumerated() {
            #expect(report.hasPrefix("line \(index * 3 + 2): "), "\(report)")
            #expect(report.contains(entry.1), "\(report)")
        }
        let listed = try await apus("device", "list", "--json")
        #expect(listed.output.split(separator: "\n").count == bad.count)
    }

    @Test("A file is imported in steps, again without harm, and what is listed can be imported")
    func importsFile() async throws {
        let count = 12_001
        try folder.write("devices.ndjson", (0..<count).map { line($0) }.joined(separator: "\r\n") + "\r\n")
        for _ in 0..<2 {
            let result = try await apus("device", "import", "devices.ndjson")
            #expect(result.exitCode == 0 && result.output == "imported \(count) devices\n", "\(result.errors)")
        }
        let datasets = try await apus("dataset", "list", "d12000")
        #expect(datasets.output == "settings\n")
        let listed = try await apus("device", "list", "--json", "--show-token", "--limit", "1500", "--after", "d1")
        #expect(listed.output.split(separator: "\n").count == 1_500)
        let again = try await apus("device", "import", "-", input: listed.output)
        #expect(again.exitCode == 0 && again.output == "imported 1500 devices\n", "\(again.errors)")
    }

    @Test("Two imports into one new registry at the same time both succeed")
    func importsTogether() async throws {
        let inputs = ["a", "b"].map { prefix in
            let start = prefix == "a" ? 0 : 100_000
            return (start..<start + 6_000).map { line($0, prefix: prefix) }.joined(separator: "\n")
        }
        async let first = apus("device", "import", input: inputs[0])
        async let second = apus("device", "import", input: inputs[1])
        let results = try await [first, second]
        for result in results {
            #expect(result.exitCode == 0 && result.output == "imported 6000 devices\n", "\(result.errors)")
        }
        let listed = try await apus("device", "list", "--json")
        #expect(listed.output.split(separator: "\n").count == 12_000)
    }

    @Test("A dry run checks the lines and makes no registry")
    func dryRun() async throws {
        let result = try await apus("device", "import", "--dry-run", input: line(1) + "\nnonsense\n" + line(2))
        #expect(result.exitCode == 65 && result.output == "checked 2 devices, 1 invalid lines\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/registry.db"))
    }

    @Test("An input file that is missing, or a folder, ends with the exit code 66")
    func missingInput() async throws {
        for path in [folder.path + "/none", folder.path] {
            let result = try await apus("device", "import", path)
            #expect(result.exitCode == 66 && result.errors.contains(path))
        }
    }

    @Test("No input is no device")
    func emptyInput() async throws {
        let result = try await apus("device", "import")
        #expect(result.exitCode == 0 && result.output == "imported 0 devices\n")
    }
}
