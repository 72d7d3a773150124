import AMQP
import ChangeQueue
import EventLoop
import Foundation
import Messages
import PushTestKit
import Synchronization

extension Environment {
    private static let drainSeconds = 60.0
    /// A message that goes from one queue to another stands in one of them at any time, but not in both looks.
    private static let emptyLooksNeeded = 2

    /// Waits until the outbox and the queues are empty, the dead letters apart.
    ///
    /// - Returns: how many rows and messages were left at the limit; 0 as a rule.
    func settle() async throws -> Int {
        let end = Deadline.now() + scenario.setting.settleSeconds
        var emptyLooks = 0
        while true {
            let left = try await waitingCount() + rowCount()
            emptyLooks = left == 0 ? emptyLooks + 1 : 0
            if emptyLooks == Self.emptyLooksNeeded { return 0 }
            if Deadline.now() > end { return left }
            if left > 0 { try await Pause.seconds(0.2) }
        }
    }

    /// How many messages stand in the queues, with workers or not, the dead letters apart.
    func waitingCount() async throws -> Int {
        let counts = try await broker.messageCounts(namespace: namespace)
        let ends = ["\(namespace).dead-letter", outcomesQueue]
        return counts.filter { !ends.contains($0.key) }.values.reduce(0) { $0 + abs($1) }
    }

    /// Ends relays and workers in order; what goes wrong with that is a problem.
    func drainWorkers() async {
        for relay in relays {
            if let end = await relay.drain(seconds: Self.drainSeconds), end.exitCode != 0 {
                report(problem: "\(relay.name) ended with \(end.exitCode) at last")
            }
        }
        for worker in workers {
            let end = await worker.drain(seconds: Self.drainSeconds)
            guard let end else { continue }
            if end.exitCode != 0 { report(problem: "\(worker.name) ended with \(end.exitCode) at last") }
            if !end.errors.contains(#""balanced":true"#) {
                report(problem: "\(worker.name): its own ledger does not balance")
            }
        }
        for process in workers + relays where !scenario.mayEndWorkers {
            for exitCode in process.unexpectedExitCodes {
                report(problem: "\(process.name) ended with \(exitCode) by itself")
            }
        }
    }

    /// A ledger with what was published so far.
    func openBooks() throws -> Ledger {
        var ledger = Ledger(population: population)
        let load = try publisher.load.value
        for event in load.events { ledger.attempted(event) }
        for (number, milliseconds) in load.confirmedMilliseconds {
            ledger.confirmed(number, atMilliseconds: milliseconds)
        }
        return ledger
    }

    /// Enters what a service has accepted so far.
    ///
    /// - Returns: the tokens that it called dead.
    @discardableResult
    func enterRecord(of kind: ServiceKind, into ledger: inout Ledger) throws -> Set<String> {
        var record = AcceptedRecord(of: kind, path: try service(kind).recordPath)
        while case let pushes = try record.next(), !pushes.isEmpty { for push in pushes { ledger.accepted(push) } }
        return record.deadTokens
    }

    /// Compares the publisher's book with the simulators' records and with what is left in the queues.
    func closeBooks() async throws -> Ledger {
        var ledger = try openBooks()
        let destruction = state.withLock { ($0.destroyedMaximum, $0.destroyedBeforeMilliseconds) }
        ledger.mayBeDestroyed(destruction.0, confirmedByMilliseconds: destruction.1)
        let names = try await broker.messageCounts(namespace: namespace)
        for (queue, count) in names where count > 0 && queue != outcomesQueue {
            let identifiers = try await identifiers(in: queue)
            if queue != "\(namespace).dead-letter" { ledger.holdsUnread(max(0, count - identifiers.count)) }
            for identifier in identifiers {
                if queue == "\(namespace).dead-letter" {
                    ledger.isDeadLettered(identifier)
                } else {
                    ledger.isQueued(identifier)
                }
            }
        }
        var deadTokens: Set<String> = []
        for kind in scenario.setting.services {
            try await service(kind).goDown()
            deadTokens.formUnion(try enterRecord(of: kind, into: &ledger))
        }
        try await enterOutcomes(into: &ledger)
        for identifier in try await refusedIdentifiers() { ledger.isDeadLettered(identifier) }
        for device in try await removedDevices(calledDead: deadTokens) { ledger.isRemoved(device) }
        return ledger
    }

    /// The identifiers of all messages of a queue without a consumer; they stay there.
    private func identifiers(in queue: String) async throws -> [String] {
        let endpoint = try AMQPEndpoint(try broker.url)
        let loop = try EventLoop(name: "books")
        defer { loop.stopAndJoin() }
        return try await loop.run {
            let session = try AMQPSession(endpoint, options: AMQPOptions())
            defer { session.close() }
            var identifiers: [String] = []
            while let (delivery, _) = try session.get(queue) {
                identifiers.append(delivery.message.properties.messageID ?? "")
            }
            return identifiers
        }
    }

    /// Ends whatever still runs.
    func close() async {
        for process in relays + workers { await process.kill() }
        for service in state.withLock({ $0.services }).values { await service.close() }
        let closings = state.withLock { state in
            defer { state.closings = [] }
            return state.closings
        }
        for closing in closings.reversed() { await closing() }
    }

    /// Keeps configuration, record and logs.
    ///
    /// - Returns: the folder where they are.
    func keep() throws -> String {
        let path = "/tmp/apus-fault-\(scenario.name)-\(seed)"
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: folder.path, toPath: path)
        for process in workers + relays {
            try Data(process.log.utf8).write(to: URL(fileURLWithPath: "\(path)/\(process.name).log"))
        }
        return path
    }
}
