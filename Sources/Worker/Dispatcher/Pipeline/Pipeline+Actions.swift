import EventLoop
import Metrics
import Notifications
import PushCore

extension Pipeline {
    /// Carries out what the state machine asked for during this tick.
    func perform() {
        if !actions.chunkPagesEnded.isEmpty { chunkPagesEnded(actions.chunkPagesEnded) }
        if !actions.chunksConfirmed.isEmpty { chunksConfirmed(actions.chunksConfirmed) }
        if !actions.plansRejected.isEmpty { plansRejected(actions.plansRejected) }
        recordChunks()
        // Pruning comes before settling: a delivery that is settled will not tell us of its dead token again.
        if !actions.deadTokens.isEmpty { prune(actions.deadTokens) }
        handOverSends()
        if !actions.publishes.isEmpty { parts.publisher.publish(actions.publishes) }
        if !actions.publishesToRepeat.isEmpty { publishLater(actions.publishesToRepeat) }
        // What is said about a delivery comes before it is settled: who sees the queue empty finds it all in the log.
        for notice in actions.notices { report(notice) }
        for rejection in actions.rejections { reject(rejection) }
        if !actions.settles.isEmpty { parts.source.settle(actions.settles) }
        for dataset in actions.datasetsSettled { giveTurn(dataset) }
        for lag in actions.lagsMilliseconds { metrics.lag.observe(nanoseconds: UInt64(lag) &* 1_000_000) }
        actions.removeAll()
        metrics.report(machine.ledgers)
        metrics.unreachableRoutes.set(machine.health.unreachableRouteCount)
        metrics.slowApps.set(machine.health.slowApps.count)
        if machine.health.isEverythingUnreachable != isPaused, !isDraining { pauseOrResume() }
        lookAtLoadsLater()
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

    /// Lets the transport begin with what is to be sent.
    func handOverSends() {
        guard !actions.sends.isEmpty else { return }
        parts.transport.send(actions.sends)
        actions.sends.removeAll(keepingCapacity: true)
    }

    private func giveTurn(_ dataset: DatasetKey) {
        let next = turns.end(dataset)
        guard !next.isEmpty else { return }
        receive(next)
        scheduleFlush()
    }

    private func prune(_ deadTokens: [DeadToken]) {
        do throws(RegistryError) {
            metrics.pruned.add(try parts.registry.prune(deadTokens))
        } catch {
            // The next push to the token will be answered in the same way, so nothing but time is lost.
            metrics.registryFailures.add()
            logger.log(
                .warning, "registry.prune.failed",
                [.field("tokens", deadTokens.count), .field("message", error.message)])
        }
    }

    private func publishLater(_ messages: [OutgoingMessage]) {
        loop.schedule(afterNanoseconds: repeatDelayNanoseconds) { [self] in
            parts.publisher.publish(messages)
        }
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
