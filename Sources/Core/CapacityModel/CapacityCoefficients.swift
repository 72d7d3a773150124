/// The coefficients of the model: measured figures, and some that APNs or the defaults of Apus fix.
///
/// The defaults are of one machine: two cores of an AMD EPYC shared with others, Debian 12, SQLite on its disk, broker
/// and push service beside the worker. `Benchmarks/curves` has the points that they were read from. Times move with the
/// machine; sizes and the forms of the rules do not.
public struct CapacityCoefficients: Equatable, Sendable {
    /// The machine of the defaults, for people.
    public static let machine = "two cores of an AMD EPYC, Debian 12"

    /// Processor time of a push in a large audience, in microseconds; `curves/audience-cpu.csv`, its end.
    public var microsecondsPerPush = 5.7
    /// Processor time of an event beside its pushes, in microseconds; `curves/audience-cpu.csv`, its beginning less its
    /// end.
    public var microsecondsPerEvent = 11.2
    /// Processor time of each 1 024 bytes of payload above 200, in microseconds for a push; `curves/payload-cpu.csv`.
    public var microsecondsPerPayloadKibibyte = 0.9
    /// Processor time of a dead token beside its push, in microseconds: its removal from SQLite;
    /// `curves/dead-tokens-cpu.csv`.
    public var microsecondsPerDeadToken = 25.0
    /// The bytes of payload that the times above were measured with.
    public var payloadBytesMeasured = 200.0

    /// The most events a second that one queue of RabbitMQ takes; scenario `queues`, publishing to one queue.
    public var eventsPerSecondOfQueue = 40_000.0
    /// The bytes on the broker's disk for an event, beside its payload: its envelope, headers and index.
    ///
    /// Estimated, not measured.
    public var brokerBytesPerEvent = 800.0

    /// The bytes of a device in SQLite with its identity and dataset; `curves/devices-size.csv`.
    public var sqliteBytesPerDevice = 325.0
    /// The bytes of a device in PostgreSQL.
    ///
    /// Estimated as twice those in SQLite, for row headers and free space.
    public var postgresBytesPerDevice = 650.0
    /// The connections of a worker to PostgreSQL; three look up, and one writes.
    public var postgresConnectionsPerWorker = 4.0

    /// The bytes of a different predicate in a worker's index; `curves/subscriptions-memory.csv`,
    /// the most that is there from 10⁵ on, and the scenario `matching`.
    public var bytesPerPredicate = 93.0
    /// The memory of a worker without subscriptions, in bytes; scenario `memory`.
    public var bytesPerWorker = 64.0 * 1_048_576

    /// The requests that APNs lets a connection have open, as Apple's servers announce.
    public var streamsPerConnection = 1_000.0
    /// The pushes a second that one connection carries at most; `curves/rtt-rate.csv` at 0 ms.
    public var pushesPerSecondOfConnection = 290_000.0
    /// The connections that a worker opens at most by default; `connections_max` in the configuration.
    public var connectionsPerWorker = 16.0
    /// The share of a core, a connection or a queue that is planned to be busy; the rest is for bursts.
    public var busyShareMaximum = 0.6
    /// How many cores one worker fills: its loops share the work unevenly, so somewhat more than one.
    public var coresPerWorker = 1.0

    /// The coefficients of the machine of the defaults.
    public init() {}
}

extension CapacityCoefficients {
    /// Makes all processor times longer or shorter by a factor, for a machine that is slower or faster.
    public mutating func scaleTimes(by factor: Double) {
        microsecondsPerPush *= factor
        microsecondsPerEvent *= factor
        microsecondsPerPayloadKibibyte *= factor
        microsecondsPerDeadToken *= factor
        pushesPerSecondOfConnection /= factor
        eventsPerSecondOfQueue /= factor
    }
}
