/// How a scenario went.
struct ScenarioResult: Sendable {
    let scenario: Scenario
    /// With which seed.
    let seed: UInt64
    /// The options of the command line.
    let options: ProgramOptions
    /// The counts of the ledger; all zero if the scenario did not get that far.
    var counts = LedgerCounts()
    /// How many duplicates the fault can explain: of pushes, and of what the backend is told of them.
    var duplicatesMaximum = 0
    /// From the end of the fault until all that had been confirmed by then was pushed; nil if that never came.
    var recoverySeconds: Double?
    /// The problems that make it invalid besides the ledger.
    var problems: [String] = []
    /// How long it took, all in all.
    var seconds = 0.0
    /// Where configuration, record and logs were kept, if they were.
    var folder: String?

    /// Nothing lost, unexpected, untold or shown twice, duplicates within the bound, and no other problem.
    var isValid: Bool { verdict.isEmpty }

    /// The reasons why the result is invalid; empty if there are none.
    var verdict: [String] {
        var verdict = problems
        if counts.lost > 0 { verdict.append("\(counts.lost) confirmed events are lost") }
        if counts.untold > 0 {
            verdict.append("the backend was not told of \(counts.untold) accepted pushes")
        }
        if counts.unexpected > 0 { verdict.append("\(counts.unexpected) pushes were not expected") }
        if counts.removed > scenario.setting.removedDevicesMaximum {
            verdict.append("\(counts.removed) devices were removed that are not gone")
        }
        if counts.soundDeadLettered > scenario.setting.soundDeadLettersMaximum {
            verdict.append("\(counts.soundDeadLettered) events are dead letters that are not broken")
        }
        if counts.duplicated > duplicatesMaximum {
            verdict.append("\(counts.duplicated) duplicates; the fault explains \(duplicatesMaximum)")
        }
        if counts.shownTwice > 0 { verdict.append("\(counts.shownTwice) alerts are shown twice by a device") }
        let toldAgainMaximum =
            duplicatesMaximum + (scenario.setting.blocksOutcomes ? scenario.setting.pushesPerRedeliveryMaximum : 0)
        if counts.toldAgain > toldAgainMaximum {
            verdict.append(
                "the backend was told again \(counts.toldAgain) times; the fault explains \(toldAgainMaximum)")
        }
        if counts.confirmed == 0, problems.isEmpty { verdict.append("nothing was confirmed") }
        return verdict
    }

    /// The command that plays it again.
    var replayCommand: String {
        var command = "deploy/bin/fault --scenario \(scenario.name) --seed \(seed)"
        if options.isShort { command += " --short" }
        if let seconds = options.loadSeconds { command += " --seconds \(seconds)" }
        return command
    }
}
