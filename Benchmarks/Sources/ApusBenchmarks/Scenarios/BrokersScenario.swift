import Foundation
import PushTestKit

/// Publishing, the worker and the broker itself with each version of RabbitMQ, in turns, because a machine drifts.
struct BrokersScenario {
    private static let events = Scale.of(40_000, small: 500)
    private static let rounds = Scale.of(3, small: 1)

    /// A version, and what was measured with it in each round.
    private struct Candidate {
        /// RabbitMQ's own word for it, for example `4.3.6`.
        var version: String
        var programs: String
        var rounds: [[Figure: Double]] = []
    }

    let bench: Workbench
    let report: Report

    func run() async throws {
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        try await bench.importDevices(Self.events, into: "brokers.db") { $0 }
        var candidates = try await candidates()
        for _ in 0..<Self.rounds {
            for index in candidates.indices {
                let round = try await measure(candidates[index].programs, simulatorPort: simulator.port)
                candidates[index].rounds.append(round)
            }
        }
        report(candidates)
    }

    /// The system's own version, and the others that were fetched.
    private func candidates() async throws -> [Candidate] {
        let parts = (try? FileManager.default.contentsOfDirectory(atPath: bench.options.partsFolder)) ?? []
        let folders =
            [PrivateRabbitMQ.systemPrograms]
            + parts.filter { $0.hasPrefix("rabbitmq-") }.sorted().map { "\(bench.options.partsFolder)/\($0)/bin" }
        var candidates: [Candidate] = []
        for folder in folders {
            let version = try await bench.run("\(folder)/rabbitmqctl", ["version"]).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard !candidates.contains(where: { $0.version == version }) else { continue }
            candidates.append(Candidate(version: version, programs: folder))
        }
        return candidates
    }

    private func measure(_ programs: String, simulatorPort: UInt16) async throws -> [Figure: Double] {
        let broker = try await PrivateRabbitMQ.start(programs: programs)
        defer { broker.stop() }
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulatorPort, registryURL: bench.registryURL("brokers.db"))
        try await bench.apus("topology", "apply")
        func spent() -> Double { ProcessorTime.microseconds(ofProcess: broker.processIdentifier) }
        let count = Double(Self.events)
        let (before, start) = (spent(), ContinuousClock().now)
        try await bench.publish(0..<Self.events, to: broker)
        let seconds = start.duration(to: ContinuousClock().now).seconds
        let published = spent()
        let worker = try await bench.runWorker(pushes: Self.events)
        return [
            .eventsPublished: count / seconds, .brokerToPublish: (published - before) / count,
            .eventsPushed: worker.perSecond, .worker: worker.microseconds,
            .brokerToPush: (spent() - published) / count,
        ]
    }

    private func report(_ candidates: [Candidate]) {
        for figure in Figure.allCases {
            var reference: Double?
            for candidate in candidates {
                let value = Median.of(candidate.rounds.compactMap { $0[figure] })
                report.add(figure.name(of: candidate.version), value, figure.unit, reference: reference)
                reference = reference ?? value
            }
        }
    }
}

extension BrokersScenario {
    /// The figures that are measured with each version.
    enum Figure: String, CaseIterable {
        case eventsPublished = "events_per_second_published"
        case brokerToPublish = "broker_cpu_per_event_published"
        case eventsPushed = "events_per_second_pushed"
        case worker = "cpu_per_push"
        case brokerToPush = "broker_cpu_per_event_pushed"

        /// The head of a column.
        var title: String {
            switch self {
            case .eventsPublished: "events published a second"
            case .brokerToPublish: "broker's processor time of one, µs"
            case .eventsPushed: "events pushed a second"
            case .worker: "worker's processor time of one, µs"
            case .brokerToPush: "broker's, µs"
            }
        }

        fileprivate var unit: String { rawValue.hasPrefix("events") ? "1/s" : "µs" }

        /// The name of the figure of a version.
        func name(of version: String) -> String { "\(rawValue)_rabbitmq_\(version)" }

        /// The version in the name of such a figure; nil if it is another one.
        func version(in name: String) -> String? {
            name.hasPrefix("\(rawValue)_rabbitmq_") ? String(name.dropFirst("\(rawValue)_rabbitmq_".count)) : nil
        }
    }
}
