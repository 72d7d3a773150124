import PushTestKit
import Testing

/// `apus registry token`.
struct TokenCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(["registry", "token"] + arguments, in: folder)
    }

    @Test("A token is made, shown once, listed without itself, and removed")
    func tokenLife() async throws {
        let made = try await apus("add", "backend", "--app", "chat", "--permission", "write")
        #expect(made.exitCode == 0 && made.output.hasPrefix("apus_") && made.output.count == 49)
        #expect(made.errors.contains("no [[app]] named \"chat\""))
        let second = try await apus("add", "me", "--json")
        #expect(second.output.hasPrefix(#"{"name":"me","token":"apus_"#))
        let listed = try await apus("list")
        #expect(listed.output.contains("backend\tchat\twrite\t20") && listed.output.contains("me\t*\tread\t20"))
        #expect(!listed.output.contains("apus_"))
        let json = try await apus("list", "--json")
        #expect(json.output.hasPrefix(#"{"name":"backend","app":"chat","permission":"write","createdAt":"#))
        let again = try await apus("add", "me")
        #expect(again.exitCode == 65 && again.output.isEmpty)
        let removed = try await apus("remove", "me", "nobody", "--json")
        #expect(removed.exitCode == 65 && removed.output == #"{"removed":1,"notFound":["nobody"]}"# + "\n")
    }

    @Test("What is typed wrongly is refused with the way to the help")
    func usage() async throws {
        for arguments in [["add"], ["add", "a", "b"], ["add", "a", "--permission", "all"], ["remove"], ["nonsense"]] {
            let result = try await CommandRunner.apus(["registry", "token"] + arguments, in: folder)
            #expect(result.exitCode == 64 && result.errors.contains("--help"), "\(result)")
        }
        let parent = try await CommandRunner.apus(["registry", "nonsense"], in: folder)
        #expect(parent.exitCode == 64)
        let help = try await CommandRunner.apus(["help", "registry"], in: folder)
        #expect(help.output.contains("Commands:\n  token") && help.output.contains("/openapi.json"))
        let group = try await CommandRunner.apus(["registry", "token"], in: folder)
        #expect(group.exitCode == 64 && group.output.contains("remove"))
    }
}
