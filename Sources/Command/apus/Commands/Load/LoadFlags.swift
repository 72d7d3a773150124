/// The options of `apus load`; names that RabbitMQ PerfTest has mean the same there.
enum LoadFlags {
    static let profile = CommandOption.value(
        "profile", "NAME", "The events: one-to-one, datasets, records, fan-out or mixed. Default: one-to-one.")
    static let rate = CommandOption.value(
        "rate", letter: "r", "N", "Events a second on average, 0.1 to 1000000. Default: 100.")
    static let time = CommandOption.value(
        "time", letter: "z", "SECONDS",
        "How long to measure, also as 5m; with --find-capacity each step. Default: 30, a step 10.")
    static let pattern = CommandOption.value(
        "pattern", "NAME", "How the rate varies: steady, bursts, or day, a day's curve. Default: steady.")
    static let variableRate = CommandOption.value(
        "variable-rate", "RATE:SECONDS", "A step of a curve of your own, gone through again until --time. Repeatable.")
    static let arrivals = CommandOption.value(
        "arrivals", "NAME", "How events follow each other: constant or poisson. Default: constant.")
    static let messages = CommandOption.value(
        "pmessages", letter: "C", "N", "Publish so many events at most, 1 to 10000000.")
    static let producers = CommandOption.value(
        "producers", letter: "x", "N", "Connections that publish, 1 to 64. Default: 1.")
    static let size = CommandOption.value(
        "size", "BYTES", "Pad the body of each event to this length, up to 65536. Default: 0.")
    static let confirm = CommandOption.value(
        "confirm", "N", "Events that may await a confirm at once; more are late. Default: 8000.")
    static let devices = CommandOption.value(
        "devices", "N", "Devices to spread the events over, 1 to 1000000. Default: 1000.")
    static let audience = CommandOption.value(
        "audience", "N", "Devices of each fan-out. Default: 100, or all if there are fewer.")
    static let existing = CommandOption.flag(
        "existing-devices", "Push to devices that the registry has, one to one, instead of generated ones.")
    static let app = CommandOption.value("app", "NAME", "The app to push for. Default: the first of the configuration.")
    static let record = CommandOption.value(
        "record", "FILE", "Read pushes from the --record file of a running 'apus simulate' instead of simulating APNs.")
    static let warmUp = CommandOption.value(
        "warm-up", "SECONDS", "Publish so long before measuring. Default: 2.")
    static let drain = CommandOption.value(
        "drain", "SECONDS", "Wait for missing pushes until none has come for so long. Default: 10.")
    static let wait = CommandOption.value("wait", "SECONDS", "Wait so long for a worker. Default: 60.")
    static let findCapacity = CommandOption.flag(
        "find-capacity", "Find the highest rate that keeps the goal: doubles from --rate, then bisects.")
    static let goals: [(CommandOption, Double)] = [
        (CommandOption.value("p50", "DURATION", "Goal: the median latency, for example 5ms."), 0.5),
        (CommandOption.value("p99", "DURATION", "Goal: the 99th percentile. Default without a goal: 50ms."), 0.99),
        (CommandOption.value("p99.9", "DURATION", "Goal: the 99.9th percentile."), 0.999),
    ]
    static let rateMaximum = CommandOption.value(
        "rate-max", "N", "The highest rate that --find-capacity tries. Default: 100000.")
    static let precision = CommandOption.value(
        "precision", "PERCENT", "The gap at which --find-capacity ends, 1 to 50. Default: 5.")
    static let html = CommandOption.value("html", "FILE", "Write a report with charts, one page without network.")
    static let seed = CommandOption.value("seed", "N", "The seed of random arrivals and mixtures. Default: 1.")
    static let allowRemote = CommandOption.flag(
        "allow-remote", "Allow a broker on another machine.")
    static let cleanUp = CommandOption.flag("clean-up", "Remove the generated devices after the run.")
    static let removeDevices = CommandOption.flag(
        "remove-devices", "Only remove the generated devices of earlier runs.")

    /// All of them, in the order of the help.
    static let all =
        [
            profile, rate, time, pattern, variableRate, arrivals, messages, producers, size, confirm, devices,
            audience, existing, app, record, warmUp, drain, wait, findCapacity,
        ] + goals.map(\.0) + [
            rateMaximum, precision, html, seed, allowRemote, cleanUp, removeDevices, .json,
        ] + CommandOption.configuration
}
