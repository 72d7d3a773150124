public import DispatchCore

/// How a process is doing, as it says in its report: readiness, totals since its start, and the last minutes.
public struct WorkerStatus: Hashable, Sendable {
    /// The kind of a process, by its work.
    public enum Kind: String, Sendable {
        /// It consumes events and pushes.
        case worker
        /// It serves the registry's API only.
        case registry
    }

    /// One of the things that readiness depends on.
    public struct Check: Hashable, Sendable {
        /// The name, for example `source`.
        public var name: String
        /// The problem; nil if all is well.
        public var failure: String?
        /// Whether the process stays ready with the problem.
        public var onlyDegrades: Bool

        /// Creates a check.
        public init(name: String, failure: String?, onlyDegrades: Bool = false) {
            self.name = name
            self.failure = failure
            self.onlyDegrades = onlyDegrades
        }
    }

    /// An app, as this process sees it.
    public struct App: Hashable, Sendable {
        /// The name.
        public var name: String
        /// Its problems at this moment, for people.
        public var problems: [String] = []
        /// Its pushes since the start of the process.
        public var totals = PushCounts()
        /// Its pushes in the last samples (`WorkerStatus.recentSamplesCount`).
        public var recent = PushCounts()
        /// Its open connections to the push service.
        public var openConnections = 0
        /// Its pushes that the service has not answered yet.
        public var openStreams = 0

        /// Creates an app without pushes.
        public init(name: String) { self.name = name }
    }

    /// The pushes that ended within one interval.
    public struct Sample: Hashable, Sendable {
        /// When it ended: a multiple of `WorkerReportRules.intervalMilliseconds`, in milliseconds since 1970.
        var endMilliseconds: Int64
        /// The pushes of all apps.
        var counts: PushCounts
        /// How many pushes fell into each bucket of the lag (`lagBoundsSeconds`), and above the last.
        public var lagCounts: [Int]
    }

    /// How many samples count as recent.
    public static let recentSamplesCount = 3

    /// The kind of the process.
    public var kind: Kind
    /// The name of its machine.
    public var host: String
    /// Its number on that machine.
    public var processIdentifier: Int
    /// The version of the program.
    public var version: String
    /// When it started, in milliseconds since 1970.
    public var startedAtMilliseconds: Int64
    /// The checks of its readiness.
    public var checks: [Check] = []
    /// Its apps, in the order of its configuration; the last one is `unknown`.
    public var apps: [App] = []
    /// How many deliveries it has taken and not settled.
    public var unsettledDeliveries = 0
    /// Whether it consumes nothing, because nothing can be sent.
    public var isConsumerPaused = false
    /// The upper bounds of the buckets of the lag, in seconds.
    public var lagBoundsSeconds: [Double] = []
    /// The last samples, the oldest first.
    public var samples: [Sample] = []

    /// Describes a process that has just started.
    public init(
        kind: Kind, host: String, processIdentifier: Int, version: String, startedAtMilliseconds: Int64
    ) {
        self.kind = kind
        self.host = host
        self.processIdentifier = processIdentifier
        self.version = version
        self.startedAtMilliseconds = startedAtMilliseconds
    }

    /// Whether every check is well, or only degrades the process.
    public var isReady: Bool { checks.allSatisfy { $0.failure == nil || $0.onlyDegrades } }
}

extension PushCounts {
    /// The counts by the names that reports, the page and `apus top` have for them.
    public static let names: [(name: StaticString, count: any WritableKeyPath<PushCounts, Int> & Sendable)] = [
        ("matched", \.matched), ("accepted", \.accepted), ("tokenDead", \.tokenDead), ("expired", \.expired),
        ("coalesced", \.coalesced), ("retried", \.requeuedForRetry), ("deadLettered", \.deadLettered),
        ("inFlight", \.inFlight),
    ]

    /// Adds other counts; sums that no counter can have stop at the largest number.
    public mutating func add(_ other: PushCounts) {
        for (_, count) in Self.names {
            self[keyPath: count] = self[keyPath: count].addingBounded(other[keyPath: count])
        }
    }

    /// The counts less earlier ones; a counter that has fallen was reset, so its whole value counts.
    func since(_ earlier: PushCounts) -> PushCounts {
        var difference = self
        for (_, count) in Self.names where self[keyPath: count] >= earlier[keyPath: count] {
            difference[keyPath: count] = self[keyPath: count] - earlier[keyPath: count]
        }
        difference.inFlight = inFlight
        return difference
    }
}

extension Int {
    /// The sum, or the nearest number that there is.
    func addingBounded(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }
}
