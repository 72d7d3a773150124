import DispatchCore
import Notifications
import StructuredLogging

/// The log, the readiness and the words about push services that serve an app badly.
extension Pipeline {
    /// How many problems the reason for a degraded readiness names.
    private static let problemsNamedMaximum = 5
    /// The words of the readiness about a push service, which contain nothing that changes by the second.
    private static let words: [(troubles: AppHealth.Troubles, words: String)] = [
        (.silent, "answers no push"), (.retried, "fails most pushes, which are retried"),
        (.deadTokens, "calls unusually many tokens dead"), (.slow, "hardly lets any push end"),
    ]

    /// Logs that a push service serves an app badly from now on, with what to do.
    func reportFailing(_ app: Int, _ trouble: ServiceTrouble) {
        guard let route = machine.renderer.route(at: app) else { return }
        let health = machine.dispatch.health
        logger.log(
            trouble == .silent ? .error : .warning, "app.failing",
            fields(ofRoute: app) + [
                .field("reason", trouble.rawValue), .field("detail", Self.problem(trouble, of: route, health)),
                .field("advice", Self.advice(trouble, service: route.service.title)),
            ])
    }

    /// Says in the readiness which apps are served badly; the worker stays ready, because another one would be, too.
    func reportServices() {
        let health = machine.dispatch.health
        let problems = machine.dispatch.pushCounts.indices.dropLast().flatMap { app in
            let troubles = health.troubles(of: app)
            return Self.words.filter { troubles.contains($0.troubles) }.map { ($0.words, app) }
        }
        let shown = problems.prefix(Self.problemsNamedMaximum).compactMap { words, app in
            machine.renderer.route(at: app).map { "\($0.title): \($0.service.title) \(words)" }
        }
        let rest = problems.count - shown.count
        self.health.set(
            .services,
            problems.isEmpty ? nil : shown.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : ""))
    }

    /// How an app at one push service is served badly, for people.
    func serviceProblems(of route: AppRoute, _ health: AppHealth) -> [String] {
        let troubles = health.troubles(of: route.index)
        var problems = ServiceTrouble.allCases.filter { troubles.contains($0.asTroubles) }.map {
            Self.problem($0, of: route, health)
        }
        if troubles.contains(.slow) { problems.append("its pushes hardly end; what exceeds its share waits") }
        return problems
    }

    private static func problem(_ trouble: ServiceTrouble, of route: AppRoute, _ health: AppHealth) -> String {
        let service = route.service.title
        switch trouble {
        case .silent:
            let (milliseconds, count) = health.services.unanswered(of: route.index)
            return "\(service) has not answered for \(milliseconds / 1_000) s; \(count) pushes are out"
        case .retried:
            let cause = health.services.lastCause(of: route.index)?.rawValue ?? "unknown"
            return "most of its pushes have to be retried; the last cause: \(cause)"
        case .deadTokens: return "\(service) calls unusually many of its tokens dead"
        }
    }

    private static func advice(_ trouble: ServiceTrouble, service: String) -> String {
        switch trouble {
        case .silent:
            "Check the network, the proxy and the status page of \(service); the pushes are sent again, none is lost."
        case .retried: "Check the status page of \(service) and its quotas; the pushes wait in the retry queues."
        case .deadTokens: "Check whether old devices were imported or restored; their tokens are removed."
        }
    }
}
