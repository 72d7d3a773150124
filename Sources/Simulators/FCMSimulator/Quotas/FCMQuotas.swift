/// How much a simulator of FCM takes; nil means any amount.
///
/// Source: Google, "Throttling and quotas". A project's bucket is filled whole when a minute has passed since its last
/// filling. Answers of 4xx cost as much as messages do, except 429 and what FCM itself failed at.
public struct FCMQuotas: Sendable, Hashable {
    /// Requests of the project in a minute.
    public var projectPerMinute: Int? = 600_000
    /// Messages to one device in a minute.
    public var devicePerMinute: Int? = 240
    /// Messages to one device in an hour.
    public var devicePerHour: Int? = 5_000
    /// Collapsible messages that one device takes at once; further ones are delayed and not refused.
    public var collapsibleBurst: Int? = 20
    /// After how many seconds a device takes one more collapsible message.
    public var collapsibleRefillSeconds = 180

    /// FCM's own numbers.
    public init() {}

    /// No limits at all.
    public static var unlimited: FCMQuotas {
        var quotas = FCMQuotas()
        quotas.projectPerMinute = nil
        quotas.devicePerMinute = nil
        quotas.devicePerHour = nil
        quotas.collapsibleBurst = nil
        return quotas
    }
}

/// Counts what was taken: a pure state machine, whose time is an argument.
struct QuotaMachine {
    /// The answer of the quotas to a message for a device.
    enum DeviceAnswer: Equatable {
        case admitted
        /// It is accepted, and reaches the device later.
        case delayed
        case refused
    }

    /// A number in a span of time that begins with the first.
    private struct Window {
        var startMilliseconds: Int64
        var count = 0

        /// Counts one more, unless that would be more than the limit.
        mutating func take(_ limit: Int, per milliseconds: Int64, now: Int64) -> Bool {
            if now - startMilliseconds >= milliseconds { self = Window(startMilliseconds: now) }
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    private struct Device {
        var minute: Window
        var hour: Window
        /// Collapsible messages that it takes now, and when one was added.
        var collapsible: Int
        var refilledMilliseconds: Int64
    }

    /// How many devices are counted at once; with one more, all counts begin again.
    private static let devicesMaximum = 1_000_000
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000

    private let quotas: FCMQuotas
    private var project: Window?
    private var devices: [MessageTarget: Device] = [:]

    init(_ quotas: FCMQuotas) { self.quotas = quotas }

    /// Takes one request from the project's bucket.
    ///
    /// - Returns: whether there was one left.
    mutating func admitRequest(nowMilliseconds now: Int64) -> Bool {
        guard let limit = quotas.projectPerMinute else { return true }
        var window = project ?? Window(startMilliseconds: now)
        defer { project = window }
        return window.take(limit, per: Self.minute, now: now)
    }

    /// Puts a request back that costs nothing: one that FCM failed at, or that met the quota of its device.
    mutating func giveBackRequest() { if let count = project?.count, count > 0 { project?.count = count - 1 } }

    /// Takes one message from the buckets of a device.
    mutating func admit(_ target: MessageTarget, isCollapsible: Bool, nowMilliseconds now: Int64) -> DeviceAnswer {
        guard target.kind.isDevice else { return .admitted }
        if devices.count >= Self.devicesMaximum, devices[target] == nil { devices.removeAll(keepingCapacity: true) }
        var device =
            devices[target]
            ?? Device(
                minute: Window(startMilliseconds: now), hour: Window(startMilliseconds: now),
                collapsible: quotas.collapsibleBurst ?? 0, refilledMilliseconds: now)
        defer { devices[target] = device }
        if let limit = quotas.devicePerMinute, !device.minute.take(limit, per: Self.minute, now: now) {
            return .refused
        }
        if let limit = quotas.devicePerHour, !device.hour.take(limit, per: Self.hour, now: now) { return .refused }
        guard isCollapsible, let burst = quotas.collapsibleBurst else { return .admitted }
        let refill = Int64(max(1, quotas.collapsibleRefillSeconds)) * 1_000
        let added = max(0, now - device.refilledMilliseconds) / refill
        device.refilledMilliseconds += added * refill
        device.collapsible = Int(min(Int64(burst), Int64(device.collapsible) + added))
        if device.collapsible == burst { device.refilledMilliseconds = now }
        guard device.collapsible > 0 else { return .delayed }
        device.collapsible -= 1
        return .admitted
    }
}
