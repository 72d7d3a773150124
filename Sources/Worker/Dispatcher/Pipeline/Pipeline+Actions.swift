import ChangeEvents
import DispatchCore
import Essentials
import Metrics
import Notifications
import RegistryCore
import StructuredLogging

extension Pipeline {
    /// Performs the machine's actions of this tick.
    func perform(at now: WallTime) {
        // The lists are taken out, so that emptying them does not copy them.
        swap(&actions, &machine.actions)
        if !actions.dispatch.sends.isEmpty { parts.transport.send(actions.dispatch.sends) }
        if !actions.dispatch.publishes.isEmpty { parts.publisher.publish(actions.dispatch.publishes) }
        if !actions.requests.isEmpty { ask(actions.requests) }
        // Events are logged before their deliveries are settled: when the queue is empty, the log is complete.
        for event in actions.events { report(event) }
        for notice in actions.notices { report(notice) }
        for notice in actions.dispatch.notices { report(notice) }
        for rejection in actions.dispatch.rejections { reject(rejection) }
        if !actions.dispatch.settles.isEmpty { parts.source.settle(actions.dispatch.settles) }
        for lag in actions.dispatch.lags { metrics.observe(lag, at: now) }
        if actions.dispatch.outcomesPublished > 0 { metrics.outcomesPublished.add(actions.dispatch.outcomesPublished) }
        if actions.dispatch.outcomesDropped > 0 { metrics.outcomesDropped.add(actions.dispatch.outcomesDropped) }
        metrics.report(machine.dispatch.pushCounts)
        if metrics.health.report(machine.dispatch.health) { reportServices() }
        reportRefusedKeys()
        actions.removeAll()
        swap(&actions, &machine.actions)
        assert(actions.isEmpty, "an adapter has called the machine back within a tick")
    }

    /// Has the broker dead-letter deliveries under the reason `rejected`.
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
            health.set(.requeuing, "the queue \(queue) takes no messages: \(reason)")
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
        case .explained(let app, let reason, let explanation):
            logger.log(
                .info, "push.refusal.explained",
                fields(ofRoute: app) + [.field("reason", reason), .field("explanation", explanation)])
        case .outcomesDropping(let areDropped, let outcome): reportOutcomes(areDropped, outcome)
        }
    }

    private func reportOutcomes(_ areDropped: Bool, _ outcome: PublishOutcome) {
        guard areDropped else { return logger.log(.info, "outcomes.taken", []) }
        let reason =
            switch outcome {
            case .returned(let text), .rejected(let text): text
            case .refused, .confirmed: "a queue that is bound to the exchange refuses messages (basic.nack): it is full"
            }
        logger.log(
            .error, "outcomes.dropped",
            [
                .field("reason", reason),
                .field("advice", "Empty the queue, raise its limit, or run 'apus topology apply'; pushes go on."),
            ])
    }
}

extension Pipeline {
    /// Logs, counts and shows a notice of the machine.
    func report(_ notice: PipelineNotice) {
        switch notice {
        case .headersIgnored(let delivery): reportIgnoredHeaders(of: delivery)
        case .rejected(let message, let rejection): report(message, .rejected, rejection)
        case .skipped(let message, let rejection): report(message, .skipped, rejection)
        case .leftOut(let event, let count, let isWhole): reportLeftOut(event, count, isWhole: isWhole)
        case .reduced(let count, let app): metrics.countReduced(count, app: app)
        case .registryFailed(let error): reportFailure(of: error)
        case .registryIsSlow: health.set(.registry, "the registry does not answer in time")
        case .registryAnswers: health.set(.registry, nil)
        case .pruned(let count): metrics.pruned.add(count)
        case .historyLeftOut(let count, let error): reportLeftOutOfHistory(count, error)
        case .outcomesNotStored(let count, let error):
            metrics.registryFailures.add()
            logger.log(
                .warning, "outcomes.not-stored", [.field("outcomes", count), .field("message", error.message)])
        case .repeatedDifferently(let event): reportOtherContent(event)
        case .notRemembered(let error): reportMemory(failing: error)
        case .forgottenEarly(let count): metrics.eventsForgotten.add(count)
        case .pruningFailed(let tokenCount, let error):
            metrics.registryFailures.add()
            logger.log(
                .warning, "registry.prune.failed", [.field("tokens", tokenCount), .field("message", error.message)])
        case .serving(let notice): report(notice)
        case .served(let counts): count(counts)
        case .planning(let notice): report(notice)
        case .planned(let counts): count(counts)
        case .subscriptionsRead(let areAll, let size): reportSubscriptions(areAll, size)
        case .paused(let pause): reportPause(pause)
        case .resumed(let app): reportResumption(app)
        case .pausesNotRead(let error):
            metrics.registryFailures.add()
            logger.log(.warning, "pauses.read.failed", [.field("message", error.message)])
        case .consumption(let stop): reportConsumption(stop)
        }
    }

    private func reportLeftOutOfHistory(_ count: Int, _ error: RegistryError?) {
        metrics.historyLeftOut.add(count)
        guard let error else { return }
        metrics.registryFailures.add()
        logger.log(
            .warning, "history.not-kept", [.field("outcomes", count), .field("message", error.message)])
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
    private func reportConsumption(_ stop: ConsumptionStop?) {
        health.consumptionChanged(isStopped: stop != nil)
        let isUnreachable = stop == .unreachable
        health.set(.apns, isUnreachable ? "no push service can be reached; nothing is consumed until one can be" : nil)
        switch stop {
        case .unreachable:
            parts.source.pause()
            logger.log(
                .error, "consumer.paused",
                [
                    .field("reason", "no push service can be reached for any app"),
                    .field("advice", "Check the network and the proxy; events wait in RabbitMQ, and none is lost."),
                ])
        case .paused:
            parts.source.pause()
            logger.log(.warning, "consumer.paused", [.field("reason", "an operator has paused all apps")])
        case nil:
            parts.source.resume()
            logger.log(.info, "consumer.resumed", [.field("reason", "pushes can be sent again")])
        }
    }

    private func reportPause(_ pause: AppPause) {
        logger.log(
            .warning, "app.paused",
            [
                .field("app", pause.app ?? "*"), .field("reason", pause.reason), .field("user", pause.user),
                .field("advice", "Its pushes wait in RabbitMQ until 'apus resume'; none is lost."),
            ])
        reportPauses()
    }

    private func reportResumption(_ app: String?) {
        logger.log(.info, "app.resumed", [.field("app", app ?? "*")])
        reportPauses()
    }

    private func reportPauses() {
        let texts = machine.pauses.map { "\($0.app ?? "all apps") (\($0.explanation))" }
        health.set(.paused, texts.isEmpty ? nil : "an operator has paused \(texts.joined(separator: ", "))")
    }
}

/// The log and readiness of apps that are in trouble.
extension Pipeline {
    /// Logs a change of an app's health.
    func report(_ notice: AppHealth.Notice) {
        switch notice {
        case .keyRejected(let app, let route, let origin, let reason):
            reportRefusal(app, route, origin, reason)
        case .keyAccepted(let app, let route, let origin):
            logger.log(
                .info, "push.key.accepted", fields(ofRoute: app) + scopeFields(app: app, route: route, origin: origin))
        case .suspectConfiguration(let app, let kind, let reason):
            logger.log(
                .error, "push.tokens.in-doubt",
                fields(ofRoute: app) + [
                    .field("kind", kind.rawValue), .field("reason", reason),
                    .field("advice", "Most tokens are called bad: check platform and bundle_id; none is pruned."),
                ])
        case .unreachable(let route): reportUnreachable(route)
        case .reachable(let route):
            guard let appRoute = machine.renderer.route(ofTransport: route) else { return }
            metrics.health.routeChanged(of: appRoute, isReachable: true)
            logger.log(.info, "push.reachable", fields(ofRoute: appRoute.index) + [.field("route", route)])
        case .slow(let app):
            logger.log(
                .warning, "app.slow",
                fields(ofRoute: app) + [
                    .field("advice", "Its pushes hardly end; what exceeds its share waits in the retry queues.")
                ])
        case .failing(let app, let trouble): reportFailing(app, trouble)
        case .recovered(let app, let trouble):
            logger.log(.info, "app.recovered", fields(ofRoute: app) + [.field("reason", trouble.rawValue)])
        }
    }

    private func reportUnreachable(_ route: Int) {
        guard let appRoute = machine.renderer.route(ofTransport: route) else { return }
        metrics.health.routeChanged(of: appRoute, isReachable: false)
        logger.log(
            .warning, "push.unreachable",
            fields(ofRoute: appRoute.index) + [
                .field("route", route),
                .field("advice", "Pushes of this route wait in the retry queues, and no attempt is spent."),
            ])
    }

    /// Brings readiness up to date with the keys; called in every tick, so it touches only what has changed.
    func reportRefusedKeys() {
        let suspended = machine.dispatch.health.suspendedApps
        let isEvery = !suspended.isEmpty && machine.dispatch.health.isEveryKeyRefused
        guard suspended != reportedRefusals.apps || isEvery != reportedRefusals.isEveryKey else { return }
        reportedRefusals = (suspended, isEvery)
        let names = suspended.prefix(8).compactMap { machine.renderer.route(at: $0)?.title }
        let text = "the push service does not accept the key of \(names.joined(separator: ", "))"
        let more = suspended.count > names.count ? " and \(suspended.count - names.count) more" : ""
        health.set(.key, suspended.isEmpty ? nil : text + more)
        health.set(.everyKey, isEvery ? "no push service accepts the key of any app" : nil)
    }

    /// Logs that credentials are refused: an error if it is the app's own, a warning if it is one origin of browsers.
    private func reportRefusal(_ app: Int, _ route: Int, _ origin: String, _ reason: String) {
        let isKey = machine.dispatch.health.isKeyRefused(app: app)
        let advice =
            isKey
            ? "Check the app's credentials for this service and environment; the pushes wait, and no attempt is spent."
            : "This origin refuses the app's VAPID key, which others accept; its pushes wait, all others go on."
        logger.log(
            isKey ? .error : .warning, "push.key.rejected",
            fields(ofRoute: app) + scopeFields(app: app, route: route, origin: origin) + [
                .field("reason", reason), .field("advice", advice),
            ])
    }

    /// The environment or the origin that an answer about credentials speaks for.
    private func scopeFields(app: Int, route: Int, origin: String) -> [LogField] {
        if !origin.isEmpty { return [.field("origin", origin)] }
        guard let appRoute = machine.renderer.route(at: app), appRoute.service == .apns else { return [] }
        let isSandbox = appRoute.transportRoute(to: .apnsSandbox) == route
        return [.field("environment", isSandbox ? "development" : "production")]
    }

    func fields(ofRoute index: Int) -> [LogField] {
        guard let route = machine.renderer.route(at: index) else { return [] }
        return [.field("app", route.name), .field("service", route.service.rawValue)]
    }
}
