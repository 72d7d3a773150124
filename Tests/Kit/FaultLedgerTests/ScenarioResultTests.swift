import Testing

@testable import FaultLedger

@Suite("The verdict on a scenario")
struct ScenarioResultTests {
    private func verdict(of name: String, _ change: (inout LedgerCounts) -> Void) throws -> [String] {
        let options = try ProgramOptions(["--scenario", name])
        var result = ScenarioResult(scenario: try #require(options.scenarios.first), seed: 1, options: options)
        result.counts.confirmed = 10
        result.duplicatesMaximum = 3
        change(&result.counts)
        return result.verdict
    }

    @Test("Pushes, and what is told of them, may come again as often as the fault explains")
    func duplicatesAreBounded() throws {
        #expect(try verdict(of: "worker-kill") { ($0.duplicated, $0.toldAgain) = (3, 3) } == [])
        #expect(
            try verdict(of: "worker-kill") { $0.duplicated = 4 } == ["4 duplicates; the fault explains 3"])
        #expect(
            try verdict(of: "worker-kill") { $0.toldAgain = 4 }
                == ["the backend was told again 4 times; the fault explains 3"])
    }

    @Test("No alert may be shown twice")
    func nothingIsShownTwice() throws {
        #expect(
            try verdict(of: "worker-kill") { ($0.duplicated, $0.shownTwice) = (1, 1) }
                == ["1 alerts are shown twice by a device"])
    }

    @Test("No end may go untold")
    func nothingIsUntold() throws {
        let wrong = ["the backend was not told of 1 accepted pushes"]
        #expect(try verdict(of: "broker-kill") { $0.untold = 1 } == wrong)
        #expect(try verdict(of: "broker-memory-alarm") { $0.untold = 1 } == wrong)
    }
}
