import EventLoop
import Glibc
import WorkerSimulation

/// Plays simulations of workers, one seed after the other, until a promise is broken.
@main
struct Program {
    private static let usageCode: Int32 = 64

    static func main() {
        do {
            exit(run(try ProgramOptions(ProcessArguments.words())))
        } catch {
            say("worker-simulation: \(error); see --help")
            exit(usageCode)
        }
    }

    private static func run(_ options: ProgramOptions) -> Int32 {
        if options.showsHelp {
            print(HelpText.text)
            return 0
        }
        WorkerSimulation.makeReplayable()
        let clock = ContinuousClock()
        let begun = clock.now
        let first = options.seed ?? UInt64.random(in: 1...999_999)
        var runCount = 0
        var eventCount = 0
        while true {
            let seed = first &+ UInt64(runCount)
            let report = play(seed, options)
            runCount += 1
            eventCount += report.counts.events
            guard report.violation == nil else { return 1 }
            let elapsed = clock.now - begun
            if let minutes = options.minutes {
                if elapsed >= .seconds(60 * minutes) { break }
            } else if runCount == options.runCount {
                break
            }
        }
        let seconds = (clock.now - begun) / .seconds(1)
        say("all promises kept: \(runCount) runs, \(eventCount) events, \(rounded(seconds)) s")
        return 0
    }

    private static func play(_ seed: UInt64, _ options: ProgramOptions) -> SimulationReport {
        let clock = ContinuousClock()
        let begun = clock.now
        var simulation = SimulationOptions(seed: seed, eventCount: options.eventCount, faults: options.faults)
        simulation.tracedEvents = options.tracedEvents
        simulation.tellsOutcomes = seed.isMultiple(of: 2)
        let report = WorkerSimulation.play(simulation, trace: say) { steps, events in
            if steps & 0x3F_FFFF == 0 { say("seed \(seed): \(steps) steps, \(events) events") }
            return true
        }
        say(summary(report, seconds: (clock.now - begun) / .seconds(1)))
        if let violation = report.violation {
            say("seed \(seed): \(violation)")
            let faults = options.faults.map { faults in
                " --faults " + (faults.isEmpty ? "none" : faults.map(\.rawValue).joined(separator: ","))
            }
            say(
                "replay it with: .build/release/worker-simulation --seed \(seed) --events \(options.eventCount)"
                    + (faults ?? ""))
        }
        return report
    }

    private static func summary(_ report: SimulationReport, seconds: Double) -> String {
        let counts = report.counts
        return """
            seed \(report.options.seed): \(counts.events) events in \(rounded(report.seconds)) simulated seconds, \
            \(report.steps) steps, \(rounded(seconds)) s; \(report.options.workerCount) workers; \
            pushes: \(counts.expected) expected, \(counts.accepted) accepted, \(counts.duplicates) twice, \
            \(counts.coalesced) coalesced, \(counts.expired) expired, \(counts.gone) gone, \(counts.claimed) claimed; \
            \(counts.deadLetters) dead letters, \(counts.pruned) pruned; at most \(report.pushesOutMaximum) pushes, \
            \(report.unsettledDeliveriesMaximum) deliveries, \(report.publishesOutMaximum) publishes out; longest wait \
            \(rounded(report.longestWaitSeconds)) s; digest \(String(report.digest, radix: 16)); \
            \(report.faultCounts.map { "\($0.fault.rawValue) \($0.count)" }.joined(separator: ", "))
            """
    }

    private static func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    private static func say(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
