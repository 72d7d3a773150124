import EventLoop
import Glibc
import PushTestKit

/// The ledger proof: plays scenarios, prints their books.
@main
struct Program {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            exit(try await run(ProgramOptions(ProcessArguments.words())))
        } catch {
            Progress.say("fault: \(error); see --help")
            exit(64)
        }
    }

    private static func run(_ options: ProgramOptions) async throws -> Int32 {
        if options.showsHelp {
            print(HelpText.text)
            return 0
        }
        if options.listsScenarios {
            let width = Scenario.all.map(\.name.count).max() ?? 0
            for scenario in Scenario.all + Scenario.onRequest {
                print(
                    scenario.name + String(repeating: " ", count: width + 2 - scenario.name.count) + scenario.sentence)
            }
            return 0
        }
        try await Interruption.listen()
        return await play(options) ? 0 : 1
    }

    private static func play(_ options: ProgramOptions) async -> Bool {
        let seed = options.seed ?? UInt64.random(in: 1...999_999)
        Progress.say("seed \(seed), \(options.scenarios.count) scenarios")
        var results: [ScenarioResult] = []
        for scenario in options.scenarios {
            Progress.say("\(scenario.name): \(scenario.sentence)")
            let result = await Run.play(scenario, seed: seed, options: options)
            results.append(result)
            if options.isJSON { print(ResultLine.text(result)) }
            report(result)
        }
        if !options.isJSON { print(ResultTable.text(results)) }
        return results.allSatisfy(\.isValid)
    }

    private static func report(_ result: ScenarioResult) {
        let counts = result.counts
        Progress.say(
            "  \(result.isValid ? "valid" : "INVALID") after \(Int(result.seconds)) s: \(counts.confirmed) confirmed, "
                + "\(counts.delivered) delivered, \(counts.queued) queued, \(counts.deadLettered) dead, "
                + "\(counts.lost) lost, \(counts.unexpected) unexpected, \(counts.duplicated) duplicated, "
                + "\(counts.shownTwice) shown twice, \(counts.untold) untold, \(counts.toldAgain) told again")
        for line in result.verdict + result.counts.details { Progress.say("    \(line)") }
        if let folder = result.folder { Progress.say("    see \(folder)") }
        if !result.isValid { Progress.say("    replay it with: \(result.replayCommand)") }
    }
}
