import PushTestKit
import Testing

@Suite("The ledger proof, in its short form")
struct ShortFormTests {
    @Test("Workers and the broker fail in the middle of load, and nothing is lost")
    func nothingIsLost() async throws {
        let folder = try TemporaryFolder()
        let program = try RunningCommand(program: CommandRunner.path(of: "FaultLedger"), ["--short"], in: folder)
        let end = await program.end()
        #expect(end.exitCode == 0, "\(end.output)\n\(end.errors)")
        #expect(end.output.contains("| worker-kill") && !end.output.contains("INVALID"))
    }
}
