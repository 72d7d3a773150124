import AMQP
import Backoffice
import EventLoop
import Messages
import Notifications
import PushTestKit

extension Environment {
    /// The queue of the app's backend, which gets all outcomes and is read at the end.
    var outcomesQueue: String { "\(namespace).outcomes.ledger" }

    /// Makes the queue of the backend, and has it told everything.
    func bindOutcomes() async throws {
        let (queue, exchange) = (outcomesQueue, "\(namespace).outcomes")
        try await withSession { session in
            try session.declareQueue(queue, arguments: [MessageHeader("x-queue-type", .string("quorum"))])
            try session.bindQueue(queue, exchange: exchange, routingKey: "#")
        }
    }

    /// Enters what the backend was told into the ledger, and takes it away.
    func enterOutcomes(into ledger: inout Ledger) async throws {
        let endpoint = try AMQPEndpoint(try broker.url)
        let queue = outcomesQueue
        let loop = try EventLoop(name: "outcomes")
        defer { loop.stopAndJoin() }
        let reports = try await loop.run {
            var options = AMQPOptions()
            options.takesLongHeaders = true
            let session = try AMQPSession(endpoint, options: options)
            defer { session.close() }
            try session.enableConfirms()
            var reports: [OutcomeReport] = []
            try session.drain(queue, prefetch: 1_000) { deliveries in
                for delivery in deliveries { reports.append(try OutcomeReport(Message(body: delivery.message.body))) }
            }
            return reports
        }
        for report in reports where report.kind != .retrying {
            for push in report.pushes {
                ledger.told(
                    deviceNamed: push.deviceID, ofEvent: report.eventIdentifier, kind: report.kind)
            }
        }
    }
}
