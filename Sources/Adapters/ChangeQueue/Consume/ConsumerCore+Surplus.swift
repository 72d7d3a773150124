import AMQP
import EventLoop
import Notifications

/// Emptying the work queues that are left over from a time when there were more.
extension ConsumerCore {
    private static let surplusTickNanoseconds: UInt64 = 3_000_000_000

    /// Begins to look after them, if the connection found any.
    func watchSurplus() {
        guard !surplus.isEmpty else { return }
        logger.log(
            .warning, "amqp.consumer.surplus",
            [
                .field("queues", surplus.tags.map { "\(configuration.namespace).\($0)" }.joined(separator: ",")),
                .field("workQueues", configuration.workQueueCount),
                .field("advice", "The worker empties them; `apus topology apply` takes them out of use."),
            ])
        scheduleSurplus()
    }

    /// The connection has ended, and with it all consumers.
    func forgetSurplus() {
        if let surplusTimer { loop.cancel(surplusTimer) }
        surplusTimer = nil
        surplusLook = nil
        surplus = SurplusQueues()
    }

    private func scheduleSurplus() {
        surplusTimer = loop.schedule(afterNanoseconds: Self.surplusTickNanoseconds) { [weak self] in
            guard let self else { return }
            surplusTimer = nil
            // After a pause it begins anew, with a new connection.
            guard connection != nil, !isCancelled, !isPaused, !surplus.isEmpty else { return }
            if let look = surplusLook, look.hasEnded {
                surplusLook = nil
                take(look.messageCounts)
            }
            letGoOfQuiet()
            if surplusLook == nil, surplus.isLookDue() { surplusLook = startLook() }
            scheduleSurplus()
        }
    }

    private func letGoOfQuiet() {
        let quiet = surplus.takeQuiet()
        guard !quiet.isEmpty else { return }
        logger.log(
            .info, "amqp.consumer.surplus.empty",
            [.field("queues", quiet.map { "\(configuration.namespace).\($0)" }.joined(separator: ","))])
        connection?.burst { session throws(AMQPError) in
            for tag in quiet { try session.cancelConsumer(tag: tag) }
        }
    }

    private func startLook() -> SurplusLook {
        let queues = surplus.unconsumedTags.map { (tag: $0, name: "\(configuration.namespace).\($0)") }
        return SurplusLook(queues, configuration)
    }

    private func take(_ messageCounts: [String: Int?]) {
        surplus.looked(hasFoundMessages: messageCounts.values.contains { ($0 ?? 0) > 0 })
        for (tag, messageCount) in messageCounts {
            guard let messageCount else {
                surplus.remove(tag)
                continue
            }
            guard messageCount > 0 else { continue }
            surplus.consume(tag)
            activeTags.insert(tag)
            connection?.burst { session throws(AMQPError) in
                try session.startConsumer(of: "\(configuration.namespace).\(tag)", tag: tag)
            }
        }
        shareOutPrefetch()
    }
}
