import PushTestKit
import Testing

/// In another process sets and dictionaries have another order, on which no decision may depend.
@Suite("A simulation in two processes")
struct ReplayTests {
    @Test("The same seed makes the same decisions in every process")
    func seedsReplay() async throws {
        let folder = try TemporaryFolder()
        var digests: [Substring] = []
        for _ in 0..<2 {
            let result = try await CommandRunner.run(
                CommandRunner.path(of: "worker-simulation"), ["--seed", "1", "--runs", "3", "--events", "1000"],
                in: folder)
            #expect(result.exitCode == 0, "\(result.errors)")
            digests.append(result.errors[...])
        }
        let found = digests.map { $0.matches(of: /digest ([0-9a-f]+)/).map { String($0.output.1) } }
        #expect(found[0].count == 3)
        #expect(found[0] == found[1])
    }
}
