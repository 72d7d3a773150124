/// The load to carry: the question that a plan answers.
public struct CapacityLoad: Equatable, Sendable {
    /// Where the devices are registered.
    public enum Registry: String, CaseIterable, Sendable {
        /// A file on the one machine that all workers share.
        case sqlite
        /// A server that workers on any machines share.
        case postgresql
    }

    /// How many devices are registered.
    public var devices: Double
    /// How many events come in a second.
    public var eventsPerSecond: Double
    /// How many devices an event reaches on average.
    public var audience = 1.0
    /// How long an answer of APNs takes, in milliseconds.
    public var roundTripMilliseconds = 50.0
    /// The share of pushes whose token is dead, 0 to 1.
    public var deadShare = 0.0
    /// The bytes of a payload.
    public var payloadBytes = 200.0
    /// How long RabbitMQ has to keep events while nobody takes them, in seconds.
    public var outageSeconds = 3_600.0
    /// How many different predicates subscriptions to records have.
    public var predicates = 0.0
    /// The store of the devices.
    public var registry = Registry.postgresql

    /// Creates a load with defaults for all other values; a value below its minimum counts as the minimum.
    public init(devices: Double, eventsPerSecond: Double) {
        self.devices = devices
        self.eventsPerSecond = eventsPerSecond
    }

    /// The same with each number in its range: none is negative or not a number, and shares end at 1.
    var inRange: CapacityLoad {
        var load = self
        func atLeast(_ least: Double, _ value: Double) -> Double { value >= least ? min(value, 1e30) : least }
        load.devices = atLeast(0, devices)
        load.eventsPerSecond = atLeast(0, eventsPerSecond)
        load.audience = atLeast(1, audience)
        load.roundTripMilliseconds = atLeast(0, roundTripMilliseconds)
        load.deadShare = min(1, atLeast(0, deadShare))
        load.payloadBytes = atLeast(0, payloadBytes)
        load.outageSeconds = atLeast(0, outageSeconds)
        load.predicates = atLeast(0, predicates)
        return load
    }
}
