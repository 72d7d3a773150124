import EventLoop
import Metrics
import Notifications
import PushCore

extension Pipeline {
    /// Logs, counts and shows what the machine noticed.
    func report(_ notice: PipelineNotice) {
        switch notice {
        case .headersIgnored(let delivery): reportIgnoredHeaders(of: delivery)
        case .rejected(let message, let rejection): reportRejected(message, rejection)
        case .leftOut(let event, let count, let isWhole): reportLeftOut(event, count, isWhole: isWhole)
        case .reduced(let count, let app): metrics.countReduced(count, app: app)
        case .registryFailed(let error): reportFailure(of: error)
        case .registryIsSlow: health.set(.registry, "the registry does not answer in time")
        case .registryAnswers: health.set(.registry, nil)
        case .pruned(let count): metrics.pruned.add(count)
        case .pruningFailed(let tokenCount, let error):
            metrics.registryFailures.add()
            logger.log(
                .warning, "registry.prune.failed", [.field("tokens", tokenCount), .field("message", error.message)])
        case .serving(let notice): report(notice)
        case .served(let counts): count(counts)
        case .planning(let notice): report(notice)
        case .planned(let counts): count(counts)
        case .subscriptionsRead(let areAll, let size): reportSubscriptions(areAll, size)
        case .consumption(let isPaused): reportConsumption(isPaused)
        }
    }

    private func reportFailure(of error: RegistryError) {
        metrics.registryFailures.add()
        logger.log(
            error.code == .unavailable ? .warning : .error, "registry.failed",
            [.field("code", error.code.rawValue), .field("message", error.message)])
        health.set(.registry, "the registry does not answer: \(error.message)")
    }

    private func reportSubscriptions(_ areAll: Bool, _ size: SubscriptionIndexSize) {
        guard areAll else {
            return health.set(
                .subscriptions, "reads the subscriptions of the registry; \(size.subscriptionCount) so far")
        }
        health.set(.subscriptions, nil)
        logger.log(
            .info, "subscriptions.read",
            [
                .field("subscriptions", size.subscriptionCount),
                .field("distinctPredicates", size.distinctPredicateCount), .field("indexBytes", size.memoryBytes),
            ])
        startSource()
    }

    /// Consumes nothing while nothing could be sent for any app.
    private func reportConsumption(_ isPaused: Bool) {
        if isPaused {
            parts.source.pause()
            health.set(.apns, "APNs cannot be reached for any app; nothing is consumed until it can")
            logger.log(
                .error, "consumer.paused",
                [
                    .field("reason", "APNs cannot be reached for any app"),
                    .field("advice", "Check the network and the proxy; events wait in RabbitMQ, and none is lost."),
                ])
        } else {
            parts.source.resume()
            health.set(.apns, nil)
            logger.log(.info, "consumer.resumed", [.field("reason", "APNs can be reached again")])
        }
    }
}
