import Glibc
import PushTestKit

extension Scenario {
    /// Events of each run; each run also begins and ends the worker.
    private static let eventsOfRun = 8
    /// A worker that makes more calls than this in a run is no longer worth the time.
    private static let occurrencesMaximum = 400

    /// The k-th call of a worker fails, for k = 1, 2, … until a worker comes to its end without a failure.
    private static func kthCall(
        _ name: String, _ sentence: String, setting: Setting = kthSetting,
        fault: @escaping @Sendable (Stage, Int) throws -> CallFault
    ) -> Scenario {
        Scenario(
            name: name, domain: .calls, sentence: sentence, setting: setting, redeliveries: 0, mayEndWorkers: true
        ) { stage in
            let seat = stage.workers[0]
            func equip(_ occurrence: Int) throws -> String {
                let report = "\(stage.folder.path)/struck-\(occurrence)"
                let variables = try fault(stage, occurrence).environment(report: report, isOnce: true)
                seat.setPrefix(["/usr/bin/env"] + variables.map { "\($0.key)=\($0.value)" }.sorted())
                return report
            }
            var occurrence = 1
            var report = try equip(occurrence)
            try await stage.endInOrder(seat)
            while occurrence <= occurrencesMaximum {
                try await seat.waitUntilReady()
                try await stage.waitForConfirms(eventsOfRun)
                let next = try equip(occurrence + 1)
                try await stage.endInOrder(seat)
                guard access(report, F_OK) == 0 else { break }
                stage.explainRedelivery()
                occurrence += 1
                report = next
            }
            seat.setPrefix([])
            try await stage.endInOrder(seat)
            stage.reportCrashes()
            if occurrence == 1 { stage.report(problem: "no call failed") }
            stage.say("\(occurrence - 1) calls failed, one in each run")
            try await seat.waitUntilReady()
        }
    }

    /// One worker and few events, for what is counted is its calls.
    private static let kthSetting = Setting(workers: 1, loadSeconds: 1, eventsPerSecond: 25)

    /// Calls on the connections to the broker.
    static let kthBroker: [Scenario] = [
        kthCall("kth-broker-read", "the k-th read from RabbitMQ finds the connection reset") { stage, occurrence in
            CallFault(.read, on: .port(try stage.broker.port), as: .reset, occurrence: occurrence)
        },
        kthCall("kth-broker-end", "the k-th read from RabbitMQ finds the connection closed") { stage, occurrence in
            CallFault(.read, on: .port(try stage.broker.port), as: .end, occurrence: occurrence)
        },
        kthCall("kth-broker-write", "the k-th write to RabbitMQ finds the connection reset") { stage, occurrence in
            CallFault(.write, on: .port(try stage.broker.port), as: .reset, occurrence: occurrence)
        },
        kthCall("kth-broker-cut", "the k-th write to RabbitMQ is cut in half by a reset") { stage, occurrence in
            CallFault(.write, on: .port(try stage.broker.port), as: .cut, occurrence: occurrence)
        },
        kthCall("kth-broker-short", "the k-th write to RabbitMQ takes half of the bytes") { stage, occurrence in
            CallFault(.write, on: .port(try stage.broker.port), as: .short, occurrence: occurrence)
        },
        kthCall("kth-broker-again", "the k-th write to RabbitMQ would block") { stage, occurrence in
            CallFault(.write, on: .port(try stage.broker.port), as: .again, occurrence: occurrence)
        },
    ]

    /// Calls on the connections to APNs.
    static let kthAPNs: [Scenario] = [
        kthCall("kth-apns-read", "the k-th read from APNs finds the connection reset") { stage, occurrence in
            CallFault(.read, on: .port(try stage.simulator.port), as: .reset, occurrence: occurrence)
        },
        kthCall("kth-apns-write", "the k-th write to APNs is cut in half by a reset") { stage, occurrence in
            CallFault(.write, on: .port(try stage.simulator.port), as: .cut, occurrence: occurrence)
        },
        kthCall("kth-apns-short", "the k-th write to APNs takes half of the bytes") { stage, occurrence in
            CallFault(.write, on: .port(try stage.simulator.port), as: .short, occurrence: occurrence)
        },
    ]

    /// Calls on the registry: its file, or the connection to PostgreSQL.
    static let kthRegistry: [Scenario] = [
        kthCall("kth-registry-read", "the k-th read of the SQLite file fails") { _, occurrence in
            CallFault(.read, on: .file("registry.db"), as: .broken, occurrence: occurrence)
        },
        kthCall("kth-registry-write", "the k-th write to the SQLite file finds the disk full") { _, occurrence in
            CallFault(.write, on: .file("registry.db"), as: .full, occurrence: occurrence)
        },
        kthCall("kth-registry-short", "the k-th write to the SQLite file takes half of the bytes") { _, occurrence in
            CallFault(.write, on: .file("registry.db"), as: .short, occurrence: occurrence)
        },
        kthCall(
            "kth-postgresql-read", "the k-th read from PostgreSQL finds the connection reset",
            setting: kthPostgreSQLSetting
        ) { stage, occurrence in
            CallFault(.read, on: .port(try stage.database.port), as: .reset, occurrence: occurrence)
        },
        kthCall(
            "kth-postgresql-write", "the k-th write to PostgreSQL finds the connection reset",
            setting: kthPostgreSQLSetting
        ) { stage, occurrence in
            CallFault(.write, on: .port(try stage.database.port), as: .reset, occurrence: occurrence)
        },
    ]

    private static let kthPostgreSQLSetting = Setting(
        workers: 1, registry: .postgreSQL, loadSeconds: 1, eventsPerSecond: 25)
}
