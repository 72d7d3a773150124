import LoadGenerator
import WorkerConfiguration

/// The options of `apus load`.
struct LoadOptions: Sendable {
    /// More events than this would make the books too large: thirteen bytes each.
    static let eventsMaximum = 10_000_000
    /// APNs takes 4 KiB of payload, but the padding stays in the event; this bounds the broker's work.
    private static let bodyBytesMaximum = 65_536

    var profile: LoadPlan.Profile
    var curve: RateCurve
    var warmUpSeconds: Double
    var spacing: ArrivalClock.Spacing
    var eventsMaximum: Int
    var producerCount: Int
    var bodyBytes: Int
    var openMaximum: Int
    var deviceCount: Int
    var audience: Int
    var seed: UInt64
    var drainSeconds: Double
    var waitSeconds: Double
    var capacity: Capacity?
    private var patternName: String

    /// How the capacity is searched.
    struct Capacity: Sendable {
        var goal: CapacityGoal
        /// The limit of the goal that a report shows.
        var limit: CapacityGoal.Limit
        var stepSeconds: Double
        var firstPerSecond: Double
        var maximumPerSecond: Double
        var precision: Double
    }

    /// Reads the options.
    ///
    /// - Throws: `CommandFailure` (`usage`) for a value out of its range, or options that exclude each other.
    init(_ invocation: CommandInvocation) throws(CommandFailure) {
        typealias Flags = LoadFlags
        profile = try Self.choice(Flags.profile, .oneToOne, invocation)
        spacing = try Self.choice(Flags.arrivals, .constant, invocation)
        let pattern = try Self.choice(Flags.pattern, RateCurve.Pattern.steady, invocation)
        let rate = try Self.number(Flags.rate, in: 0.1...1_000_000, invocation)
        let seconds = try Self.seconds(Flags.time, in: 1...86_400, invocation)
        warmUpSeconds = try Self.seconds(Flags.warmUp, in: 0...3_600, invocation) ?? 2
        let steps = try invocation.strings(Flags.variableRate).map { text throws(CommandFailure) in try Self.step(text)
        }
        guard steps.isEmpty || (rate == nil && pattern == .steady) else {
            throw .usage("--variable-rate brings its own rates; omit --rate and --pattern")
        }
        patternName = steps.isEmpty ? pattern.rawValue : "variable"
        curve =
            steps.isEmpty
            ? RateCurve(pattern, perSecond: rate ?? 100, seconds: seconds ?? 30)
            : RateCurve(repeating: steps, seconds: seconds ?? steps.reduce(0) { $0 + $1.seconds })
        eventsMaximum = try invocation.integer(Flags.messages, in: 1...Self.eventsMaximum) ?? Self.eventsMaximum
        producerCount = try invocation.integer(Flags.producers, in: 1...64) ?? 1
        bodyBytes = try invocation.integer(Flags.size, in: 0...Self.bodyBytesMaximum) ?? 0
        openMaximum = try invocation.integer(Flags.confirm, in: 1...1_000_000) ?? 8_000
        deviceCount = try invocation.integer(Flags.devices, in: 1...1_000_000) ?? 1_000
        audience = try invocation.integer(Flags.audience, in: 1...1_000_000) ?? min(100, deviceCount)
        seed = UInt64(try invocation.integer(Flags.seed, in: 0...Int.max) ?? 1)
        drainSeconds = try Self.seconds(Flags.drain, in: 1...3_600, invocation) ?? 10
        waitSeconds = try Self.seconds(Flags.wait, in: 0...86_400, invocation) ?? 60
        guard audience <= deviceCount else {
            throw .usage("--audience is \(audience), but there are only --devices \(deviceCount)")
        }
        capacity = try Self.capacity(invocation, rate: rate, seconds: seconds, isVariable: !steps.isEmpty)
        guard curve.eventCount > 0, invocation.has(Flags.messages) || curve.eventCount <= Double(Self.eventsMaximum)
        else {
            throw .usage(
                "this run would have \(Int(curve.eventCount)) events, and one run has 1 to \(Self.eventsMaximum); "
                    + "lower --rate or --time, or bound them with --pmessages")
        }
    }

    private static func capacity(
        _ invocation: CommandInvocation, rate: Double?, seconds: Double?, isVariable: Bool
    ) throws(CommandFailure) -> Capacity? {
        typealias Flags = LoadFlags
        var limits: [CapacityGoal.Limit] = []
        for (option, share) in Flags.goals {
            guard let text = invocation.string(option) else { continue }
            guard let span = TimeSpan(text), span.milliseconds > 0 else {
                throw .usage("--\(option.name) takes a duration, for example 50ms or 1s, not '\(text)'")
            }
            limits.append(
                .init(share: share, name: option.name, microseconds: UInt64(span.milliseconds) * 1_000))
        }
        guard invocation.has(Flags.findCapacity) else {
            if let option = Flags.goals.first(where: { invocation.has($0.0) })?.0 {
                throw .usage("--\(option.name) is a goal of --find-capacity, which is missing")
            }
            return nil
        }
        guard !isVariable else { throw .usage("--find-capacity chooses the rates itself; omit --variable-rate") }
        let first = limits.isEmpty ? .init(share: 0.99, name: "p99", microseconds: 50_000) : limits.removeFirst()
        return Capacity(
            goal: CapacityGoal(first, limits), limit: first, stepSeconds: seconds ?? 10, firstPerSecond: rate ?? 100,
            maximumPerSecond: try number(Flags.rateMaximum, in: 0.1...1_000_000, invocation) ?? 100_000,
            precision: Double(try invocation.integer(Flags.precision, in: 1...50) ?? 5) / 100)
    }

    /// The plan of the events.
    func plan(hasDatasets: Bool, deviceCount: Int) -> LoadPlan {
        LoadPlan(
            profile: profile, deviceCount: deviceCount, audience: audience, hasDatasets: hasDatasets, seed: seed)
    }

    /// Returns the settings for a report.
    func settings(perSecond: Double, seconds: Double, deviceCount: Int) -> [(name: String, value: String)] {
        [
            ("profile", profile.rawValue), ("pattern", patternName), ("arrivals", spacing.rawValue),
            ("rate", LoadText.rate(perSecond)), ("time", "\(seconds.formatted) s after \(warmUpSeconds.formatted) s"),
            ("devices", "\(deviceCount)"), ("audience of a fan-out", "\(audience)"),
            ("producers", "\(producerCount)"), ("body", bodyBytes == 0 ? "unpadded" : "\(bodyBytes) bytes"),
            ("unconfirmed at most", "\(openMaximum)"), ("seed", "\(seed)"),
        ]
    }

    // MARK: Values

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ option: CommandOption, _ fallback: Choice, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Choice where Choice.RawValue == String {
        guard let text = invocation.string(option) else { return fallback }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--\(option.name) takes one of \(names), not '\(text)'")
        }
        return choice
    }

    private static func number(
        _ option: CommandOption, in range: ClosedRange<Double>, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Double? {
        guard let text = invocation.string(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw .usage(
                "--\(option.name) takes a number from \(range.lowerBound.formatted) to "
                    + "\(range.upperBound.formatted), not '\(text)'")
        }
        return number
    }

    private static func seconds(
        _ option: CommandOption, in range: ClosedRange<Double>, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Double? {
        guard let text = invocation.string(option) else { return nil }
        guard let seconds = Double(text) ?? TimeSpan(text)?.seconds, range.contains(seconds) else {
            throw .usage(
                "--\(option.name) takes \(range.lowerBound.formatted) to \(range.upperBound.formatted) seconds, "
                    + "for example 30 or 5m, not '\(text)'")
        }
        return seconds
    }

    private static func step(_ text: String) throws(CommandFailure) -> RateCurve.Segment {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let rate = Double(parts[0]), (0...1_000_000).contains(rate),
            let seconds = Double(parts[1]) ?? TimeSpan(String(parts[1]))?.seconds, (0.1...86_400).contains(seconds)
        else { throw .usage("--variable-rate takes RATE:SECONDS, for example 500:10, not '\(text)'") }
        return RateCurve.Segment(seconds: seconds, perSecond: rate)
    }
}

extension Double {
    /// The number without a fraction if it has none.
    fileprivate var formatted: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}
