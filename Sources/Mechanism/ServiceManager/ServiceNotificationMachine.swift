/// Decides what a service manager is told, and when: the protocol of `sd_notify(3)`.
///
/// Each method returns the text of one datagram, lines of `KEY=VALUE`, or nil if there is nothing to tell. Times are
/// monotonic, in nanoseconds.
struct ServiceNotificationMachine: Sendable {
    private enum Phase {
        case starting, running, reloading, stopping
    }

    /// How often the service is looked at, if the watchdog does not ask for more.
    static let lookIntervalNanoseconds: UInt64 = 1_000_000_000
    /// How often a long start or stop asks for more time.
    static let extensionIntervalNanoseconds: UInt64 = 5_000_000_000
    /// How much time it asks for.
    static let extensionMicroseconds: UInt64 = 20_000_000
    /// The datagram that says nothing but that the service lives.
    static let signOfLife = "WATCHDOG=1"
    /// The longest status, in characters: it is meant to be one line of `systemctl status`.
    static let statusLengthMaximum = 400

    /// How long to wait between two observations.
    let intervalNanoseconds: UInt64
    /// How long to wait between two signs of life; nil if the service manager wants none.
    private let watchdogNanoseconds: UInt64?
    private var phase = Phase.starting
    private var status: String?
    private var lastSignOfLife: UInt64?
    private var lastExtension: UInt64?

    /// Creates a machine for a process that is starting.
    ///
    /// - Parameter watchdogMicroseconds: how often the service manager wants a sign of life at least; nil for never.
    init(watchdogMicroseconds: UInt64?) {
        // Half of it, as sd_watchdog_enabled(3) recommends: one sign may then be late.
        watchdogNanoseconds = watchdogMicroseconds.map { max(1, $0 / 2) * 1_000 }
        intervalNanoseconds = min(Self.lookIntervalNanoseconds, watchdogNanoseconds ?? .max)
    }

    /// The service was looked at.
    ///
    /// Only a live service gives signs of life and asks for more time: the service manager ends one that hangs.
    mutating func observed(_ observation: ServiceObservation, at now: UInt64) -> String? {
        var lines: [String] = []
        if phase == .starting, observation.isStarted {
            phase = .running
            lines.append("READY=1")
        }
        let status = Self.line(observation.status)
        if status != self.status {
            self.status = status
            lines.append("STATUS=\(status)")
        }
        if observation.isAlive {
            if let watchdogNanoseconds, Self.isDue(lastSignOfLife, every: watchdogNanoseconds, at: now) {
                lastSignOfLife = now
                lines.append(Self.signOfLife)
            }
            if phase == .starting || phase == .stopping,
                Self.isDue(lastExtension, every: Self.extensionIntervalNanoseconds, at: now)
            {
                lastExtension = now
                lines.append("EXTEND_TIMEOUT_USEC=\(Self.extensionMicroseconds)")
            }
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// The service begins to read its configuration again; nil before it has started, and while it stops.
    mutating func reloadBegan(at now: UInt64) -> String? {
        guard phase == .running else { return nil }
        phase = .reloading
        return "RELOADING=1\nMONOTONIC_USEC=\(now / 1_000)"
    }

    /// The service has read its configuration.
    mutating func reloadEnded() -> String? {
        guard phase == .reloading else { return nil }
        phase = .running
        return "READY=1"
    }

    /// The service begins to stop.
    mutating func stopBegan() -> String? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        lastExtension = nil
        return "STOPPING=1"
    }

    private static func isDue(_ last: UInt64?, every interval: UInt64, at now: UInt64) -> Bool {
        guard let last else { return true }
        return now >= last && now - last >= interval
    }

    /// One line, because a line feed would begin another variable.
    private static func line(_ text: String) -> String {
        let line = String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
        return line.count > statusLengthMaximum ? line.prefix(statusLengthMaximum - 1) + "…" : line
    }
}

/// How a service is at a moment.
public struct ServiceObservation: Hashable, Sendable {
    /// Whether it has begun to do its work.
    public let isStarted: Bool
    /// Whether all of its threads work; a service that waits for others is alive.
    public let isAlive: Bool
    /// How it is, in a line for an operator.
    public let status: String

    /// Creates an observation.
    public init(isStarted: Bool, isAlive: Bool, status: String) {
        self.isStarted = isStarted
        self.isAlive = isAlive
        self.status = status
    }
}
