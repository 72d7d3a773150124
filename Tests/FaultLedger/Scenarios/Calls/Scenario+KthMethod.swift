import PushTestKit

extension Scenario {
    /// So many methods of each kind are struck, one after the other.
    private static let methodsMaximum = 12

    /// The k-th publish, confirm, delivery or acknowledgement after the worker connected never arrives, or arrives and
    /// its sender does not know.
    private static func kthMethod(_ name: String, _ sentence: String, _ landmark: AMQPLandmark) -> Scenario {
        Scenario(
            name: name, domain: .calls, sentence: sentence, setting: Setting(workers: 1, eventsPerSecond: 100),
            redeliveries: 0
        ) { stage in
            for occurrence in 1...methodsMaximum {
                for moment in [ProxyTrap.Moment.before, .after] {
                    try await stage.proxy(.broker).resetAll()
                    try await stage.waitUntilReady()
                    try await stage.spring(ProxyTrap(.method(landmark, moment), occurrence: occurrence), .broker)
                    stage.explainRedelivery()
                    stage.explainRedelivery()
                }
            }
        }.prepared { try await $0.putProxy(before: .broker) }
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
