import Glibc
import PushTestKit

extension Scenario {
    /// Events of each run; each run also begins and ends the worker.
    private static let eventsOfCallRun = 8
    /// A worker that makes more calls than this in a run is no longer worth the time.
    private static let callOccurrencesMaximum = 400

    /// The target of the calls that fail.
    private enum CallTarget: Hashable {
        case broker
        case service(ServiceKind)
        case file
        case postgreSQL

        func subject(of environment: Environment) throws -> CallFault.Subject {
            switch self {
            case .broker: return .port(try environment.broker.port)
            case .service(let kind):
                guard let port = environment.addresses.services[kind] else {
                    throw EnvironmentFailure("\(kind.title) has no port that stands for all")
                }
                return .port(port)
            case .file: return .file("registry.db")
            case .postgreSQL: return .port(try environment.database.port)
            }
        }

        /// The push services of the devices.
        var services: [ServiceKind] { if case .service(let kind) = self { [kind] } else { [.apns] } }
    }

    /// The k-th call of a worker fails, for k = 1, 2, … until a worker comes to its end without a failure.
    private static func kthCall(
        _ name: String, _ call: CallFault.Call, _ target: CallTarget, _ manner: CallFault.Manner, _ sentence: String
    ) -> Scenario {
        // One worker and few events, for what is counted is its calls.
        let setting = Setting(
            workers: 1, services: target.services, registry: target == .postgreSQL ? .postgreSQL : .sqlite,
            loadSeconds: 1, eventsPerSecond: 25)
        return Scenario(
            name: name, domain: .calls, sentence: sentence, setting: setting, redeliveries: 0, mayEndWorkers: true
        ) { environment in
            let supervisor = environment.workers[0]
            func equip(_ occurrence: Int) throws -> String {
                let report = "\(environment.folder.path)/struck-\(occurrence)"
                let fault = CallFault(call, on: try target.subject(of: environment), as: manner, occurrence: occurrence)
                let variables = fault.environment(report: report, isOnce: true)
                supervisor.setPrefix(["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" }.sorted())
                return report
            }
            var occurrence = 1
            var report = try equip(occurrence)
            try await environment.endInOrder(supervisor)
            while occurrence <= callOccurrencesMaximum {
                try await supervisor.waitUntilReady()
                try await environment.waitForConfirms(eventsOfCallRun)
                let next = try equip(occurrence + 1)
                try await environment.endInOrder(supervisor)
                guard access(report, F_OK) == 0 else { break }
                environment.explainRedelivery()
                occurrence += 1
                report = next
            }
            supervisor.setPrefix([])
            try await environment.endInOrder(supervisor)
            environment.reportCrashes()
            if occurrence == 1 { environment.report(problem: "no call failed") }
            environment.say("\(occurrence - 1) calls failed, one in each run")
            try await supervisor.waitUntilReady()
        }.prepared { environment in
            // Each of browsers' services has a port of its own; one proxy stands for all.
            if target == .service(.webpush) { try await environment.putProxy(before: .service(.webpush)) }
        }
    }

    /// Each call that fails, on what, as what.
    static let kthCalls: [Scenario] = [
        kthCall("kth-broker-read", .read, .broker, .reset, "the k-th read from RabbitMQ finds the connection reset"),
        kthCall("kth-broker-end", .read, .broker, .end, "the k-th read from RabbitMQ finds the connection closed"),
        kthCall("kth-broker-write", .write, .broker, .reset, "the k-th write to RabbitMQ finds the connection reset"),
        kthCall("kth-broker-cut", .write, .broker, .cut, "the k-th write to RabbitMQ is cut in half by a reset"),
        kthCall("kth-broker-short", .write, .broker, .short, "the k-th write to RabbitMQ takes half of the bytes"),
        kthCall("kth-broker-again", .write, .broker, .again, "the k-th write to RabbitMQ would block"),
        kthCall("kth-apns-read", .read, .service(.apns), .reset, "the k-th read from APNs finds the connection reset"),
        kthCall("kth-apns-write", .write, .service(.apns), .cut, "the k-th write to APNs is cut in half by a reset"),
        kthCall("kth-apns-short", .write, .service(.apns), .short, "the k-th write to APNs takes half of the bytes"),
        kthCall(
            "kth-fcm-read", .read, .service(.fcm), .reset,
            "the k-th read from FCM or its token endpoint finds the connection reset"),
        kthCall(
            "kth-webpush-write", .write, .service(.webpush), .cut,
            "the k-th write to a browser's service or the HTTP proxy before it is cut in half by a reset"),
        kthCall("kth-registry-read", .read, .file, .broken, "the k-th read of the SQLite file fails"),
        kthCall("kth-registry-write", .write, .file, .full, "the k-th write to the SQLite file finds the disk full"),
        kthCall(
            "kth-registry-short", .write, .file, .short, "the k-th write to the SQLite file takes half of the bytes"),
        kthCall(
            "kth-postgresql-read", .read, .postgreSQL, .reset,
            "the k-th read from PostgreSQL finds the connection reset"),
        kthCall(
            "kth-postgresql-write", .write, .postgreSQL, .reset,
            "the k-th write to PostgreSQL finds the connection reset"),
    ]

    /// Events of each run; each run also begins and ends the worker.
    private static let eventsOfMethodRun = 5
    /// A worker that sends or gets more of a method in a run is no longer worth the time.
    private static let methodOccurrencesMaximum = 200

    /// The k-th publish, confirm, delivery or acknowledgement of a worker never arrives, or arrives and its sender does
    /// not know, for k = 1, 2, … until a worker comes to its end without either.
    private static func kthMethod(_ name: String, _ sentence: String, _ marker: AMQPMarker) -> Scenario {
        let setting = Setting(workers: 1, unavailableProbability: 0.4, loadSeconds: 1, eventsPerSecond: 4)
        return Scenario(
            name: name, domain: .calls, sentence: sentence, setting: setting, redeliveries: 0
        ) { environment in
            for moment in [FaultTrigger.Moment.before, .after] {
                let count = try await strikeEach(marker, moment, of: environment)
                environment.say("\(count) were struck \(moment) they passed, one in each run")
                if count == 0 { environment.report(problem: "none was struck \(moment) it passed") }
            }
            try await environment.waitUntilReady()
        }.prepared { try await $0.putProxy(before: .broker) }
    }

    private static func strikeEach(
        _ marker: AMQPMarker, _ moment: FaultTrigger.Moment, of environment: Environment
    ) async throws -> Int {
        let supervisor = environment.workers[0]
        let proxy = try environment.proxy(.broker)
        try await environment.endInOrder(supervisor)
        for occurrence in 1...methodOccurrencesMaximum {
            try await proxy.set(FaultTrigger(.method(marker, moment), occurrence: occurrence))
            try await supervisor.waitUntilReady()
            try await environment.waitForConfirms(eventsOfMethodRun)
            try await environment.endInOrder(supervisor)
            if try await proxy.removeTriggers() > 0 { return occurrence - 1 }
            environment.explainRedelivery()
        }
        return methodOccurrencesMaximum
    }

    /// Faults at the k-th method between a worker and RabbitMQ.
    static let kthMethods: [Scenario] = [
        kthMethod("kth-publish", "the connection is reset before, and after, the k-th publish of a worker", .publish),
        kthMethod("kth-confirm", "the connection is reset before, and after, the k-th confirm", .confirm),
        kthMethod(
            "kth-ack", "the connection is reset before, and after, the k-th acknowledgement", .acknowledgement),
        kthMethod("kth-delivery", "the connection is reset before, and after, the k-th delivery", .delivery),
    ]
}
