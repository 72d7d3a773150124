internal import Metrics
import StructuredLogging

/// The log and the metrics of the origins' places.
///
/// Refusals, which a stranger can cause without end, are counted each time and logged once a minute for an app and a
/// bound.
struct OriginLog {
    private static let quietNanoseconds: UInt64 = 60_000_000_000
    private static let hint =
        "see which subscriptions of the app have made-up hosts; name those that you know in webpush.known_hosts"

    private struct Subject: Hashable {
        let app: Int
        let bound: OriginQuotas.Bound
    }

    private let apps: [String]
    private let logger: Logger
    private let refused: [OriginQuotas.Bound: Counter]
    private let gauges: (reserved: Gauge, proven: Gauge, unproven: Gauge)
    private var shown = (reserved: 0, proven: 0, unproven: 0)
    private var quietUntil: [Subject: UInt64] = [:]

    init(configuration: WebPushServiceConfiguration, logger: Logger, metrics: MetricsRegistry) {
        apps = configuration.apps.map(\.name)
        self.logger = logger
        refused = Dictionary(
            uniqueKeysWithValues: OriginQuotas.Bound.allCases.map { bound in
                let counter = metrics.counter(
                    "apus_push_origins_refused_total",
                    help: "Pushes to browsers without a place for their push service, by bound.",
                    labels: [.init("bound", bound.rawValue)])
                return (bound, counter)
            })
        func gauge(_ standing: String) -> Gauge {
            metrics.gauge(
                "apus_push_origins", help: "Push services of browsers in use, by standing.",
                labels: [.init("standing", standing)])
        }
        gauges = (gauge("reserved"), gauge("proven"), gauge("unproven"))
    }

    /// A push found no place for its origin.
    mutating func refused(app: Int, _ bound: OriginQuotas.Bound, host: String, nowNanoseconds: UInt64) {
        refused[bound]?.add()
        let subject = Subject(app: app, bound: bound)
        guard nowNanoseconds >= quietUntil[subject] ?? 0 else { return }
        quietUntil[subject] = nowNanoseconds &+ Self.quietNanoseconds
        logger.log(
            .warning, "push.origins.full",
            [
                .field("app", apps[app]), .field("bound", bound.rawValue), .field("host", host),
                .field("hint", Self.hint),
            ])
    }

    /// Origins have come, gone, or accepted their first push.
    mutating func changed(_ table: OriginTable) {
        var counts = (reserved: 0, proven: 0, unproven: 0)
        for case let origin? in table.origins {
            if origin.isReserved {
                counts.reserved += 1
            } else if origin.isProven {
                counts.proven += 1
            } else {
                counts.unproven += 1
            }
        }
        gauges.reserved.add(counts.reserved - shown.reserved)
        gauges.proven.add(counts.proven - shown.proven)
        gauges.unproven.add(counts.unproven - shown.unproven)
        shown = counts
    }
}
