import EventLoop
import PushTestKit
import Synchronization

/// Plays one scenario from an empty folder to its result.
enum Play {
    /// The load goes on for so long after a fault, in seconds.
    private static let loadAfterFaultSeconds = 2.0
    private static let confirmSeconds = 30.0

    /// Plays a scenario.
    ///
    /// - Returns: the result; a scenario that could not be played to its end is invalid and says why.
    static func play(_ scenario: Scenario, seed: UInt64, options: ProgramOptions) async -> ScenarioResult {
        let started = Deadline.now()
        var result = ScenarioResult(scenario: scenario, seed: seed, options: options)
        do {
            let stage = try Stage(scenario: scenario, seed: seed, options: options)
            Interruption.watch(stage)
            defer { Interruption.watch(nil) }
            do {
                try await perform(stage, &result)
            } catch {
                stage.report(problem: "\(error)")
            }
            result.problems = stage.state.withLock { $0.problems }
            await stage.close()
            if options.keepsFolders || !result.isValid { result.folder = try stage.keep() }
        } catch {
            result.problems.append("\(error)")
        }
        result.seconds = Deadline.now() - started
        return result
    }

    private static func perform(_ stage: Stage, _ result: inout ScenarioResult) async throws {
        try await stage.start()
        try stage.startLoad()
        let setting = stage.scenario.setting
        let loadSeconds = stage.options.loadSeconds ?? setting.loadSeconds
        let loadEnd = Deadline.now() + loadSeconds
        let strikeSeconds = stage.draw(setting.strikeShare) * loadSeconds
        try await stage.waitForConfirms(1)
        try await Pause.seconds(strikeSeconds)
        stage.say("strikes after \((try? stage.confirmedCount) ?? 0) confirmed events")
        try await stage.scenario.strike(stage)
        let faultEndMilliseconds = WallClock.nowMilliseconds()
        stage.say("the fault is over")
        try await Pause.seconds(max(loadAfterFaultSeconds, loadEnd - Deadline.now()))
        try await stage.publisher.finish(confirmSeconds: confirmSeconds)
        let left = try await stage.settle()
        if left > 0 { stage.report(problem: "\(left) messages were left in the queues") }
        await stage.drainWorkers()
        let ledger = try await stage.closeBooks()
        result.counts = ledger.counts()
        let redeliveries = stage.scenario.redeliveries + stage.state.withLock { $0.explainedRedeliveries }
        result.duplicatesMaximum = redeliveries * stage.scenario.setting.pushesPerRedeliveryMaximum
        let settledMilliseconds = ledger.settledMilliseconds(ofEventsConfirmedBy: faultEndMilliseconds)
        result.recoverySeconds =
            result.counts.lost > 0 ? nil : Double(settledMilliseconds - faultEndMilliseconds) / 1_000
    }
}

/// The clock of the limits that scenarios set.
enum Deadline {
    /// The monotonic clock, in seconds.
    static func now() -> Double { Double(MonotonicClock.nowNanoseconds()) / 1_000_000_000 }
}
