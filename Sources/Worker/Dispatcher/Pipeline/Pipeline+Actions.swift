import EventLoop
import Metrics
import Notifications
import PushCore

extension Pipeline {
    /// Carries out what the machine decided during this tick.
    func perform() {
        // The lists are taken out, so that emptying them does not copy them.
        swap(&actions, &machine.actions)
        if !actions.dispatch.sends.isEmpty { parts.transport.send(actions.dispatch.sends) }
        if !actions.dispatch.publishes.isEmpty { parts.publisher.publish(actions.dispatch.publishes) }
        if !actions.requests.isEmpty { ask(actions.requests) }
        // What is said about a delivery comes before it is settled: who sees the queue empty finds it all in the log.
        for event in actions.events { report(event) }
        for notice in actions.notices { report(notice) }
        for notice in actions.dispatch.notices { report(notice) }
        for rejection in actions.dispatch.rejections { reject(rejection) }
        if !actions.dispatch.settles.isEmpty { parts.source.settle(actions.dispatch.settles) }
        for lag in actions.dispatch.lagsMilliseconds { metrics.lag.observe(nanoseconds: UInt64(lag) &* 1_000_000) }
        metrics.report(machine.dispatch.ledgers)
        metrics.unreachableRoutes.set(machine.dispatch.health.unreachableRouteCount)
        metrics.slowApps.set(machine.dispatch.health.slowApps.count)
        actions.removeAll()
        swap(&actions, &machine.actions)
        assert(actions.isEmpty, "an adapter has called the machine back within a tick")
    }

    /// Has the broker dead-letter deliveries, under the reason that it gives to what was rejected.
    private func reject(_ rejection: DispatchActions.Rejection) {
        for _ in rejection.tags { metrics.countDeadLetter("rejected") }
        logger.log(
            .error, "event.dead-lettered",
            fields(of: rejection.message) + [
                .field("reason", "rejected"), .field("detail", rejection.detail),
                .field("deliveries", rejection.tags.count),
                .field("advice", "Raise max_message_size of RabbitMQ and replay the letter, or publish less."),
            ])
        parts.source.reject(rejection.tags)
    }

    private func report(_ notice: DispatchActions.Notice) {
        switch notice {
        case .health(let notice): report(notice)
        case .publishRefused(let message, let queue, let reason):
            health.set(.parking, "the queue \(queue) takes no messages: \(reason)")
            logger.log(
                .error, "parking.refused",
                fields(of: message) + [
                    .field("queue", queue), .field("reason", reason),
                    .field("advice", "Run 'apus topology check'; the events stay with the broker meanwhile."),
                ])
        case .deadLettered(let message, let reason, let detail):
            metrics.countDeadLetter(reason)
            logger.log(
                .warning, "event.dead-lettered",
                fields(of: message) + [.field("reason", reason), .field("detail", detail)])
        }
    }
}
