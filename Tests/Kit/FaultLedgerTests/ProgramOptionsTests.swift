import PushTestKit
import Testing

@testable import FaultLedger

@Suite("The command line of the fault program")
struct ProgramOptionsTests {
    @Test("Scenarios are chosen by name or by domain, and all run without a choice")
    func choosesScenarios() throws {
        #expect(try ProgramOptions([]).scenarios.count == Scenario.all.count)
        #expect(try ProgramOptions(["--scenario", "worker-kill"]).scenarios.map(\.name) == ["worker-kill"])
        let broker = try ProgramOptions(["--scenario", "worker-kill", "broker", "--seed", "7"])
        #expect(broker.scenarios.dropFirst().allSatisfy { $0.domain == .broker } && broker.scenarios.count > 1)
        #expect(broker.seed == 7)
        #expect(try ProgramOptions(["--short"]).scenarios.allSatisfy(\.isShort))
    }

    @Test(
        "What it does not understand it names",
        arguments: [["--sead", "1"], ["--seed", "x"], ["--scenario", "none"]])
    func refuses(_ arguments: [String]) {
        #expect(throws: ProgramOptions.Problem.self) { try ProgramOptions(arguments) }
    }

    @Test("No two scenarios have the same name")
    func namesAreUnique() {
        #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
    }

    @Test("Each domain but the soak has scenarios, which its name selects", arguments: Scenario.Domain.allCases)
    func selectsDomains(_ domain: Scenario.Domain) throws {
        let selected = try ProgramOptions(["--scenario", domain.rawValue]).scenarios
        #expect(!selected.isEmpty && selected.allSatisfy { $0.domain == domain })
    }

    @Test("What befalls FCM befalls browsers' services as well, beside what only one of them can have")
    func servicesHaveTheSameFaults() {
        func names(_ service: ServiceKind) -> Set<String> {
            Set(Scenario.faults(of: service).map { $0.name.replacing("\(service.rawValue)-", with: "") })
        }
        #expect(names(.fcm) == names(.webpush) && names(.fcm).count == Scenario.faults(of: .fcm).count)
        #expect(Scenario.fcm.allSatisfy { $0.setting.services == [.fcm] })
        #expect(Scenario.webpush.allSatisfy { $0.setting.services == [.webpush] })
    }
}

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
