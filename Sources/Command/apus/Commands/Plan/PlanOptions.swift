import CapacityModel

/// The options of `apus plan`, and the load that they describe.
enum PlanOptions {
    private static let devices = CommandOption.value(
        "devices", "N", "The registered devices, for example 1000000 or 1e6.", isRequired: true)
    private static let eventsPerSecond = CommandOption.value(
        "events-per-second", "RATE", "The events that come in a second.", isRequired: true)
    private static let audience = CommandOption.value(
        "audience", "N", "The devices that an event reaches on average, 1 or more. Default: 1.")
    private static let roundTrip = CommandOption.value(
        "rtt", "MS", "The time of an answer of the push service in milliseconds. Default: 50.")
    private static let deadShare = CommandOption.value(
        "dead-share", "SHARE", "The share of dead tokens, 0 to 1. Default: 0.")
    private static let payloadBytes = CommandOption.value(
        "payload-bytes", "N", "The size of a payload, 1 to 5120. Default: 200.")
    private static let outage = CommandOption.value(
        "outage", "SECONDS", "How long RabbitMQ has to keep events without workers. Default: 3600.")
    private static let predicates = CommandOption.value(
        "predicates", "N", "The different predicates of record subscriptions. Default: 0.")
    private static let registry = CommandOption.value(
        "registry", "KIND", "Where devices are stored: sqlite or postgresql. Default: postgresql.")
    private static let perPush = CommandOption.value(
        "cpu-per-push-us", "US", "Your own processor time of a push in a large audience, in microseconds.")

    /// All of them, in the order of the help.
    static let all = [
        devices, eventsPerSecond, audience, roundTrip, deadShare, payloadBytes, outage, predicates, registry, perPush,
        .json,
    ]

    /// The most that a number may be: more than there is of anything.
    private static let most = 1e12

    /// The load that is asked for.
    static func load(_ invocation: CommandInvocation) throws(CommandFailure) -> CapacityLoad {
        var load = CapacityLoad(
            devices: try required(devices, 0...most, invocation),
            eventsPerSecond: try required(eventsPerSecond, 0...most, invocation))
        load.audience = try number(audience, 1...most, invocation) ?? load.audience
        load.roundTripMilliseconds = try number(roundTrip, 0...60_000, invocation) ?? load.roundTripMilliseconds
        load.deadShare = try number(deadShare, 0...1, invocation) ?? load.deadShare
        load.payloadBytes = try number(payloadBytes, 1...5_120, invocation) ?? load.payloadBytes
        load.outageSeconds = try number(outage, 0...most, invocation) ?? load.outageSeconds
        load.predicates = try number(predicates, 0...most, invocation) ?? load.predicates
        if let text = invocation.string(registry) {
            guard let kind = CapacityLoad.Registry(rawValue: text) else {
                throw .usage("--registry takes sqlite or postgresql, not '\(text)'")
            }
            load.registry = kind
        }
        guard load.audience <= max(1, load.devices) else {
            throw .usage("--audience is more than --devices: an event cannot reach devices that are not registered")
        }
        return load
    }

    /// The coefficients: the defaults, or those that follow from the user's own figure.
    static func coefficients(_ invocation: CommandInvocation) throws(CommandFailure) -> CapacityCoefficients {
        var coefficients = CapacityCoefficients()
        guard let own = try number(perPush, 0.001...1_000_000, invocation) else { return coefficients }
        coefficients.scaleTimes(by: own / coefficients.microsecondsPerPush)
        return coefficients
    }

    private static func required(
        _ option: CommandOption, _ range: ClosedRange<Double>, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Double {
        _ = try invocation.required(option)
        return try number(option, range, invocation) ?? range.lowerBound
    }

    private static func number(
        _ option: CommandOption, _ range: ClosedRange<Double>, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Double? {
        guard let text = invocation.string(option) else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw .usage(
                "--\(option.name) takes a number from \(CapacityText.number(range.lowerBound)) to "
                    + "\(CapacityText.number(range.upperBound)), not '\(text)'")
        }
        return value
    }
}
