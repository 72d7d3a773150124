/// Everything that a run found out.
public struct LoadResult: Sendable {
    /// The settings of the run, as pairs of a name and a text, in the order in which a report shows them.
    public var settings: [(name: String, value: String)]
    /// The start, in milliseconds since 1970.
    public var startedAtMilliseconds: Int64
    /// When measuring began, in microseconds since 1970.
    public var measuredFromMicroseconds: Int64
    /// How long events were measured, in seconds.
    public var measuredSeconds: Double
    /// The mean rate that was asked for.
    public var intendedPerSecond: Double
    /// The counts.
    public var totals: LoadTotals
    /// From the intended publish to the push server's answer, in microseconds.
    public var pushLatency: LatencyHistogram
    /// The same for each kind of event that there was.
    public var latencyByKind: [(kind: LoadPlan.Kind, histogram: LatencyHistogram)]
    /// From the intended publish to the hand-over to the publisher, in microseconds.
    public var publishDelay: LatencyHistogram
    /// From the intended publish to RabbitMQ's confirm, in microseconds.
    public var confirmLatency: LatencyHistogram
    /// The run, second by second.
    public var samples: [LoadSample]
    /// Events that were due before the end and could not be published.
    public var unpublished: Int
    /// Pushes that had not come when the wait for them ended.
    public var missingPushes: Int
    /// Changes of datasets that became one push with a newer change.
    public var coalescedEvents: Int
    /// The warnings that a reader has to know before trusting the figures.
    public var warnings: [String]

    /// The percentiles that a report shows.
    public static let shares: [(share: Double, name: String)] = [
        (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"),
    ]

    /// Creates the result of a run from its books.
    ///
    /// - Parameters:
    ///   - book: the books.
    ///   - settings: the settings of the run.
    ///   - measuredSeconds: how long events were to be measured; nil for a run that ended early.
    ///   - intendedPerSecond: the mean rate that was asked for.
    ///   - unpublished: events that were due and could not be published.
    ///   - warnings: the warnings for a reader.
    public init(
        _ book: LoadBook, settings: [(name: String, value: String)], measuredSeconds: Double?,
        intendedPerSecond: Double, unpublished: Int, warnings: [String]
    ) {
        self.settings = settings
        startedAtMilliseconds = book.startMicroseconds / 1_000
        measuredFromMicroseconds = book.measuredFromMicroseconds
        let published = book.totals.lastPublishedMicroseconds - book.measuredFromMicroseconds
        self.measuredSeconds = measuredSeconds ?? max(0, Double(published) / 1_000_000)
        self.intendedPerSecond = intendedPerSecond
        totals = book.totals
        pushLatency = book.pushLatency
        latencyByKind = book.latencyByKind
        publishDelay = book.publishDelay
        confirmLatency = book.confirmLatency
        samples = book.samples
        self.unpublished = unpublished
        (missingPushes, coalescedEvents) = book.shortfall()
        self.warnings = warnings
    }

    /// The measured events a second that were published.
    ///
    /// The time runs to the last of the events if it was late.
    public var publishedPerSecond: Double {
        Double(totals.measured) / max(0.001, measuredSeconds, seconds(until: totals.lastPublishedMicroseconds))
    }

    /// The accepted pushes of measured events, a second.
    ///
    /// The time runs to the last of the pushes if they came later than the last event.
    public var pushedPerSecond: Double {
        Double(totals.measuredPushes) / max(0.001, measuredSeconds, seconds(until: totals.lastMeasuredMicroseconds))
    }

    private func seconds(until microseconds: Int64) -> Double {
        Double(microseconds - measuredFromMicroseconds) / 1_000_000
    }

    /// The most messages that waited for a worker at once; nil if the queues could not be read.
    public var waitingMaximum: Int? { samples.compactMap { $0.queue?.waiting }.max() }

    /// Whether nothing was refused, lost or repeated.
    public var isComplete: Bool {
        missingPushes == 0 && totals.refused + totals.returned + totals.rejectedPushes + unpublished == 0
    }

    /// The three latencies with their names, in the order of a report.
    public var latencies: [(name: String, key: String, histogram: LatencyHistogram)] {
        [
            ("publish to push", "push_latency_us", pushLatency),
            ("publish to confirm", "confirm_latency_us", confirmLatency),
            ("publishing late by", "publish_delay_us", publishDelay),
        ]
    }

    /// The rows of a table of latencies: the three, with the kinds of a mixed load below the first.
    public var latencyRows: [(name: String, histogram: LatencyHistogram)] {
        let kinds = latencyByKind.count < 2 ? [] : latencyByKind.map { ("  \($0.kind.name)", $0.histogram) }
        let rows = latencies.map { ($0.name, $0.histogram) }
        return Array(rows.prefix(1)) + kinds + Array(rows.dropFirst())
    }
}
