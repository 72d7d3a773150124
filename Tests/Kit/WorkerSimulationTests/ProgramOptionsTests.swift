import Testing
import WorkerSimulation

@testable import worker_simulation

@Suite("The command line of the simulation")
struct ProgramOptionsTests {
    @Test("Seeds, events, faults and lengths are read")
    func options() throws {
        let options = try ProgramOptions([
            "--seed", "7", "--events", "100", "--faults", "kill,registry-down", "--runs", "3", "--minutes", "2",
        ])
        #expect(options.seed == 7)
        #expect(options.eventCount == 100)
        #expect(options.faults == [.kill, .registryDown])
        #expect(options.runCount == 3)
        #expect(options.minutes == 2)
        #expect(try ProgramOptions(["--faults", "none"]).faults == [])
    }

    @Test(
        "What cannot be understood is named",
        arguments: [["--seed"], ["--seed", "x"], ["--events", "0"], ["--faults", "fire"], ["--nothing"]])
    func problems(arguments: [String]) {
        #expect(throws: ProgramOptions.Problem.self) { try ProgramOptions(arguments) }
    }
}
