import ChangeEvents
import Messages
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

@testable import SQLiteRegistry

@Suite("apus registry copy")
struct RegistryCopyCommandTests {
    private static func lines(_ count: Int) -> String {
        (0..<count).map { index in
            #"{"deviceId":"device-\#(index)","platform":"APNS","token":"\#(TestDevices.token(index))","#
                + #""app":"chat","identityPoolId":"us-east-1:0","identityId":"identity:\#(index)","#
                + #""registeredAt":1600000000000,"datasets":["notes"],"topics":["news"]}"# + "\n"
        }.joined()
    }

    @Test("A registry goes from SQLite into PostgreSQL and back, and tells what it did")
    func bothWays() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let folder = try TemporaryFolder()
        try folder.write("url", server.url(database: try await server.makeDatabase()) + "\n")
        func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
            let result = try await CommandRunner.apus(arguments, input: input, in: folder)
            #expect(!result.output.contains(server.password) && !result.errors.contains(server.password))
            return result
        }
        let set = "registry.url=sqlite:a.db"
        let imported = try await apus("device", "import", "--set", set, input: Self.lines(50))
        #expect(imported.exitCode == 0, "\(imported)")
        let there = try await apus("registry", "copy", "sqlite:a.db", "@url", "--json")
        #expect(there.exitCode == 0, "\(there)")
        #expect(there.output.contains(#""written":{"datasets":0,"topicUsers":0,"devices":50,"#), "\(there)")
        let again = try await apus("registry", "copy", "sqlite:a.db", "@url")
        #expect(again.output.contains("devices: 50 read, 0 written"), "\(again)")
        let back = try await apus("registry", "copy", "@url", "sqlite:b.db", "--json")
        #expect(back.exitCode == 0, "\(back)")
        let first = try await apus("device", "list", "--json", "--set", set)
        let second = try await apus("device", "list", "--json", "--set", "registry.url=sqlite:b.db")
        #expect(first.output == second.output && first.output.contains("device-49"))
    }

    @Test("It says which dead letters it leaves out, why, and what to do, and has succeeded all the same")
    func leavesOutDeadLetters() async throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/a.db", mode: .create)
        let letters = (10..<22).map { number in
            var message = Message(body: [])
            let name = number > 10 ? "7:device" : "device"
            message.headers = [MessageHeader(RetryHeader.devices, .array([.string(name)]))]
            return DeadLetter(
                summary: DeadLetterSummary(
                    identifier: String(repeating: "\(number)", count: 16), reason: "test", deadLetteredMilliseconds: 1,
                    bodySizeBytes: 0),
                message: message)
        }
        _ = try registry.addDeadLetters(letters)
        let copy = try await CommandRunner.apus(["registry", "copy", "sqlite:a.db", "sqlite:b.db"], in: folder)
        #expect(copy.exitCode == 0)
        #expect(copy.output.contains("dead letters: 12 read, 1 written, 11 left out\n"), "\(copy)")
        #expect(copy.errors.contains("11 dead letters were left out, because"), "\(copy)")
        #expect(copy.errors.contains("apus dead-letters replay 111111111111 121212121212 "), "\(copy)")
        #expect(copy.errors.contains(" 202020202020 and 1 more\n"), "\(copy)")
        let again = try await CommandRunner.apus(
            ["registry", "copy", "sqlite:a.db", "sqlite:b.db", "--json"], in: folder)
        #expect(again.exitCode == 0)
        #expect(again.output.contains(#""leftOut":{"deadLetters":11}"#), "\(again)")
        let whole = try await CommandRunner.apus(["registry", "copy", "sqlite:b.db", "sqlite:c.db"], in: folder)
        #expect(whole.output.contains("dead letters: 1 read, 1 written\n") && whole.errors.isEmpty, "\(whole)")
    }

    @Test("A device whose name is not accepted any more ends it, and can be removed as the message says")
    func removesWhatIsNotAccepted() async throws {
        let folder = try TemporaryFolder()
        func apus(_ arguments: String...) async throws -> CommandResult {
            try await CommandRunner.apus(arguments, input: Self.lines(3), in: folder)
        }
        let set = "registry.url=sqlite:a.db"
        #expect(try await apus("device", "import", "--set", set).exitCode == 0)
        try SQLiteRegistry.open(path: folder.path + "/a.db", mode: .readWrite).connection.execute(
            "UPDATE device SET device_id = 'd' || char(1) WHERE device_id = 'device-1'")
        let refused = try await apus("registry", "copy", "sqlite:a.db", "sqlite:b.db")
        #expect(refused.exitCode == 65, "\(refused)")
        #expect(refused.errors.contains(#"The device "d\u0001" cannot be copied: "#), "\(refused)")
        #expect(try await apus("device", "remove", "d\u{1}", "--set", set).exitCode == 0)
        let copied = try await apus("registry", "copy", "sqlite:a.db", "sqlite:b.db")
        #expect(copied.exitCode == 0 && copied.output.contains("devices: 2 read"), "\(copied)")
    }

    @Test("Stores that are not there, cannot be read or are the same are told apart")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        func exitCode(_ from: String, _ to: String) async throws -> Int32 {
            Int32(try await CommandRunner.apus(["registry", "copy", from, to], in: folder).exitCode)
        }
        #expect(try await exitCode("sqlite:none.db", "sqlite:b.db") == 69)
        #expect(try await exitCode("sqlite:a.db", "sqlite:a.db") == 64)
        #expect(try await exitCode("a.db", "sqlite:b.db") == 65)
        #expect(try await exitCode("@none", "sqlite:b.db") == 69)
        #expect(try await exitCode("postgresql://u:p@q@h/d", "sqlite:a.db") == 65)
    }
}
