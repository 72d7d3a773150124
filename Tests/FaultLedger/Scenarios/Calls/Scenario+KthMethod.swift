import PushTestKit

extension Scenario {
    /// Events of each run; each run also begins and ends the worker.
    private static let eventsOfRun = 5
    /// A worker that sends or gets more of a method in a run is no longer worth the time.
    private static let occurrencesMaximum = 200

    /// The k-th publish, confirm, delivery or acknowledgement of a worker never arrives, or arrives and its sender does
    /// not know, for k = 1, 2, … until a worker comes to its end without either.
    private static func kthMethod(_ name: String, _ sentence: String, _ landmark: AMQPLandmark) -> Scenario {
        let setting = Setting(
            workers: 1,
            simulatorFaults: #"{"fault":"answer","status":503,"reason":"ServiceUnavailable","probability":0.4}"# + "\n",
            loadSeconds: 1, eventsPerSecond: 4)
        return Scenario(
            name: name, domain: .calls, sentence: sentence, setting: setting, redeliveries: 0
        ) { stage in
            for moment in [ProxyTrap.Moment.before, .after] {
                let count = try await strikeEach(landmark, moment, of: stage)
                stage.say("\(count) were struck \(moment) they passed, one in each run")
                if count == 0 { stage.report(problem: "none was struck \(moment) it passed") }
            }
            try await stage.waitUntilReady()
        }.prepared { try await $0.putProxy(before: .broker) }
    }

    private static func strikeEach(
        _ landmark: AMQPLandmark, _ moment: ProxyTrap.Moment, of stage: Stage
    ) async throws -> Int {
        let seat = stage.workers[0]
        let proxy = try stage.proxy(.broker)
        try await stage.endInOrder(seat)
        for occurrence in 1...occurrencesMaximum {
            try await proxy.set(ProxyTrap(.method(landmark, moment), occurrence: occurrence))
            try await seat.waitUntilReady()
            try await stage.waitForConfirms(eventsOfRun)
            try await stage.endInOrder(seat)
            if try await proxy.removeTraps() > 0 { return occurrence - 1 }
            stage.explainRedelivery()
        }
        return occurrencesMaximum
    }

    /// What passes between a worker and RabbitMQ.
    static let kthMethods: [Scenario] = [
        kthMethod("kth-publish", "the connection is reset before, and after, the k-th publish of a worker", .publish),
        kthMethod("kth-confirm", "the connection is reset before, and after, the k-th confirm", .confirm),
        kthMethod(
            "kth-ack", "the connection is reset before, and after, the k-th acknowledgement", .acknowledgement),
        kthMethod("kth-delivery", "the connection is reset before, and after, the k-th delivery", .delivery),
    ]
}
