import Glibc
import PushTestKit

extension Scenario {
    /// How long a soak lasts without `--seconds`.
    private static let soakSeconds = 600.0
    /// Growth beyond these is not flat: memory of the last quarter over the first, and files.
    private static let residentGrowthMaximum = 1.25
    private static let fileGrowthMaximum = 8

    /// Faults throughout, drawn from the seed, with memory and file descriptors watched.
    static let soak = Scenario(
        name: "soak", domain: .soak,
        sentence:
            "faults of workers, broker and APNs, one after the other, for as long as `--seconds` says; memory and "
            + "file descriptors of the worker that is never ended stay flat",
        setting: Setting(
            isBrokerPrivate: true, brokerConfiguration: "heartbeat = 10", loadSeconds: soakSeconds,
            eventsPerSecond: 100, strikeShare: 0...0.001, settleSeconds: 300), redeliveries: 0
    ) { environment in
        let end = Deadline.now() + (environment.options.loadSeconds ?? soakSeconds)
        var samples: [ProcessSample] = []
        var counts: [SoakFault: Int] = [:]
        while Deadline.now() < end {
            let fault = SoakFault.allCases[environment.draw(0...SoakFault.allCases.count - 1)]
            try await fault.strike(environment)
            counts[fault, default: 0] += 1
            for _ in 0..<fault.redeliveries { environment.explainRedelivery() }
            try await environment.waitUntilReady()
            try await Pause.seconds(environment.draw(3...10))
            guard let identifier = environment.workers[0].identifier else {
                throw EnvironmentFailure("the first worker is gone")
            }
            let sample = try ProcessSample(of: identifier)
            samples.append(sample)
            environment.say("\(fault.rawValue); \(sample.residentKilobytes) kB resident, \(sample.fileCount) files")
        }
        environment.say(counts.map { "\($0.rawValue) \($1)" }.sorted().joined(separator: ", "))
        report(samples, environment)
    }

    private static func report(_ samples: [ProcessSample], _ environment: Environment) {
        let quarter = samples.count / 4
        guard quarter > 0 else { return }
        func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }
        let (first, last) = (samples.prefix(quarter), samples.suffix(quarter))
        let resident = (median(first.map(\.residentKilobytes)), median(last.map(\.residentKilobytes)))
        let files = (median(first.map(\.fileCount)), median(last.map(\.fileCount)))
        environment.say("resident \(resident.0) kB, then \(resident.1) kB; files \(files.0), then \(files.1)")
        if Double(resident.1) > Double(resident.0) * residentGrowthMaximum {
            environment.report(problem: "resident memory grew from \(resident.0) to \(resident.1) kB")
        }
        if files.1 > files.0 + fileGrowthMaximum {
            environment.report(problem: "open files grew from \(files.0) to \(files.1)")
        }
    }
}

/// A fault that a soak draws again and again; the first worker is never ended, so that its memory can be watched.
enum SoakFault: String, CaseIterable, Sendable {
    case workerKill, workerTerminate, workerStop, connectionsClosed, brokerKill, brokerStop, memoryAlarm, apnsGoAway,
        apnsSilence, apnsReset

    /// Brings it about and ends it.
    func strike(_ environment: Environment) async throws {
        let other = environment.workers[environment.workers.count - 1]
        switch self {
        case .workerKill: try await other.endBySignal(SIGKILL)
        case .workerTerminate: try await other.endBySignal(SIGTERM)
        case .workerStop:
            other.signal(SIGSTOP)
            try await Pause.seconds(environment.draw(1...8))
            other.signal(SIGCONT)
        case .connectionsClosed: try await environment.broker.control("close_all_connections", "soak")
        case .brokerKill:
            try await environment.broker.writeOutMetadata()
            try environment.broker.kill()
            try await environment.broker.startAgain()
        case .brokerStop:
            try environment.broker.pause()
            try await Pause.seconds(environment.draw(1...15))
            try environment.broker.resume()
        case .memoryAlarm:
            try await environment.broker.control("set_vm_memory_high_watermark", "0")
            try await Pause.seconds(environment.draw(1...5))
            try await environment.broker.control("set_vm_memory_high_watermark", "0.4")
        case .apnsGoAway: try await disturb(environment, #"{"fault":"goaway","last":"previous","probability":0.05}"#)
        case .apnsSilence: try await disturb(environment, #"{"fault":"silence","probability":0.2}"#)
        case .apnsReset: try await disturb(environment, #"{"fault":"reset-stream","error":2,"probability":0.2}"#)
        }
    }

    /// How often the deliveries that all workers hold may come again, and be pushed again.
    ///
    /// A push that APNs has processed, and whose answer did not reach the worker, is pushed again as well.
    var redeliveries: Int {
        switch self {
        case .workerTerminate, .memoryAlarm: 0
        case .workerKill, .workerStop: 1
        case .connectionsClosed, .brokerKill, .brokerStop, .apnsGoAway, .apnsSilence, .apnsReset: 2
        }
    }

    private func disturb(_ environment: Environment, _ line: String) async throws {
        try environment.service(.apns).control(line)
        try await Pause.seconds(environment.draw(1...5))
        try environment.endFaults(of: .apns)
    }
}

/// The resources of a worker at one moment.
struct ProcessSample: Sendable {
    /// Resident memory, in kilobytes.
    let residentKilobytes: Int
    /// Open files.
    let fileCount: Int

    /// Looks at a process.
    ///
    /// - Throws: `EnvironmentFailure`, or an error of Foundation if it is gone.
    init(of identifier: Int32) throws {
        residentKilobytes = try ProcessStatus.kibibytes("VmRSS", of: identifier)
        fileCount = try ProcessStatus.openFileCount(of: identifier)
    }
}
