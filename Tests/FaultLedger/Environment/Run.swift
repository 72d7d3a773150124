import EventLoop
import PushTestKit
import Synchronization

/// Plays one scenario from an empty folder to its result.
enum Run {
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
            let environment = try Environment(scenario: scenario, seed: seed, options: options)
            Interruption.watch(environment)
            defer { Interruption.watch(nil) }
            do {
                try await perform(environment, &result)
            } catch {
                environment.report(problem: "\(error)")
            }
            result.problems = environment.state.withLock { $0.problems }
            await environment.close()
            if options.keepsFolders || !result.isValid { result.folder = try environment.keep() }
        } catch {
            result.problems.append("\(error)")
        }
        result.seconds = Deadline.now() - started
        return result
    }

    private static func perform(_ environment: Environment, _ result: inout ScenarioResult) async throws {
        try await environment.start()
        try environment.startLoad()
        let setting = environment.scenario.setting
        let loadSeconds = environment.options.loadSeconds ?? setting.loadSeconds
        let loadEnd = Deadline.now() + loadSeconds
        let strikeSeconds = environment.draw(setting.strikeShare) * loadSeconds
        try await environment.waitForConfirms(1)
        try await Pause.seconds(strikeSeconds)
        environment.say("strikes after \((try? environment.confirmedCount) ?? 0) confirmed events")
        try await environment.scenario.strike(environment)
        let faultEndMilliseconds = WallClock.nowMilliseconds()
        environment.say("the fault is over")
        try await Pause.seconds(max(loadAfterFaultSeconds, loadEnd - Deadline.now()))
        try await environment.publisher.finish(confirmSeconds: confirmSeconds)
        let left = try await environment.settle()
        if left > 0 { environment.report(problem: "\(left) messages were left in the queues") }
        await environment.drainWorkers()
        let ledger = try await environment.closeBooks()
        result.counts = ledger.counts()
        let redeliveries = environment.scenario.redeliveries + environment.state.withLock { $0.explainedRedeliveries }
        result.duplicatesMaximum = redeliveries * environment.scenario.setting.pushesPerRedeliveryMaximum
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
