/// The figures of a plan, in words.
extension CapacityRules {
    /// All of them, in the order in which they follow from each other.
    var figures: [CapacityPlan.Figure] { ofProcessors + ofConnections + ofStores }

    private var ofProcessors: [CapacityPlan.Figure] {
        let share = CapacityText.percent(coefficients.busyShareMaximum)
        return [
            .init(
                name: "pushesPerSecond", title: "pushes", value: pushesPerSecond, unit: "1/s",
                rule: "events a second × devices an event"),
            .init(
                name: "microsecondsPerPush", title: "processor time a push", value: microsecondsPerPush, unit: "µs",
                rule: "\(CapacityText.number(coefficients.microsecondsPerPush)) + "
                    + "\(CapacityText.number(coefficients.microsecondsPerEvent)) ÷ audience, more for payloads above "
                    + "\(CapacityText.number(coefficients.payloadBytesMeasured)) B and for dead tokens"),
            .init(
                name: "cores", title: "cores of workers", value: cores, unit: "",
                rule: "pushes × processor time, \(share) busy"),
            .init(
                name: "workers", title: "workers", value: workers, unit: "",
                rule: "the larger of cores (one a worker) and connections ÷ "
                    + CapacityText.number(coefficients.connectionsPerWorker)),
        ]
    }

    private var ofConnections: [CapacityPlan.Figure] {
        let share = CapacityText.percent(coefficients.busyShareMaximum)
        return [
            .init(
                name: "pushesInFlight", title: "pushes in flight", value: pushesInFlight, unit: "",
                rule: "pushes a second × round trip"),
            .init(
                name: "connections", title: "connections to APNs", value: connections, unit: "",
                rule: "pushes in flight ÷ \(CapacityText.number(coefficients.streamsPerConnection)) streams, and a "
                    + "\(CapacityText.number(coefficients.pushesPerSecondOfConnection))/s turn of each connection, "
                    + "\(share) busy; one a worker"),
            .init(
                name: "queues", title: "work queues", value: queues, unit: "",
                rule: "events ÷ \(CapacityText.number(coefficients.eventsPerSecondOfQueue))/s of a queue, \(share) busy"
            ),
            .init(
                name: "brokerBytes", title: "disk of RabbitMQ", value: brokerBytes, unit: "B",
                rule: "events × outage × (\(CapacityText.number(coefficients.brokerBytesPerEvent)) B + payload)"),
        ]
    }

    private var ofStores: [CapacityPlan.Figure] {
        [
            .init(
                name: "registryBytes", title: "registry", value: load.devices * bytesPerDevice, unit: "B",
                rule: "devices × \(CapacityText.number(bytesPerDevice)) B in \(load.registry.rawValue)"),
            .init(
                name: "registryConnections", title: "connections to PostgreSQL", value: registryConnections, unit: "",
                rule: load.registry == .sqlite
                    ? "none: SQLite is a file"
                    : "\(CapacityText.number(coefficients.postgresConnectionsPerWorker)) a worker"),
            .init(
                name: "memoryBytes", title: "memory of all workers", value: memoryBytes, unit: "B",
                rule: "\(CapacityText.bytes(coefficients.bytesPerWorker)) a worker, and "
                    + "\(CapacityText.number(coefficients.bytesPerPredicate)) B a different predicate in each"),
        ]
    }
}

/// Numbers of a plan for people.
public enum CapacityText {
    /// A whole number with its thousands in groups, a small one with two digits after the point.
    public static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        if value != value.rounded(), abs(value) < 1_000 { return "\((value * 100).rounded() / 100)" }
        var digits = String(Int64(value.rounded(.up)))
        var groups: [String] = []
        while digits.utf8.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return ([digits] + groups).joined(separator: " ")
    }

    /// A share in hundredths.
    public static func percent(_ share: Double) -> String { number((share * 100).rounded()) + " %" }

    /// A number of bytes with a unit that leaves few digits.
    public static func bytes(_ value: Double) -> String {
        var (value, unit) = (value, "B")
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] where value >= 1_024 { (value, unit) = (value / 1_024, next) }
        return number(value) + " " + unit
    }
}
