import EventLoop
import Glibc
public import StructuredLogging
import Synchronization
public import WorkerConfiguration

/// Writes log entries as lines on standard error: one JSON object each, or text for people.
///
/// A line is one `write(2)`, so that lines of several threads and processes do not mix, and it is at most 4096 bytes
/// long. The log can neither flood nor stall the worker. Each place in the code may log 20 lines at once and then one a
/// second. A slow reader loses lines. Lost lines are counted on the next line, as `suppressed` (same place) and
/// `dropped` (any). The level `debug` is not limited, because its reader wants the outcome of each event; only a slow
/// reader loses lines.
public final class LogSink: Sendable {
    /// The shapes of a line.
    public enum Format: Sendable {
        /// One JSON object: `time`, `level`, `event`, then the fields.
        case json
        /// For people.
        case text
    }

    private struct State {
        var limiter = LogRateLimiter()
        var droppedCount = 0
        var isStalled = false
    }

    /// The time that the first line waits for a stalled reader; later lines do not wait.
    private static let stallMilliseconds: Int32 = 10

    private let descriptor: Int32
    private let format: Format
    private let nowMilliseconds: @Sendable () -> Int64
    private let state = Mutex(State())

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - format: the shape of a line.
    ///   - descriptor: where the lines go, standard error if not given; it stays the caller's.
    ///   - nowMilliseconds: the time of an entry, in milliseconds since 1970; the wall clock if not given.
    public init(
        format: Format, descriptor: Int32 = 2, nowMilliseconds: (@Sendable () -> Int64)? = nil
    ) {
        self.format = format
        self.descriptor = descriptor
        self.nowMilliseconds = nowMilliseconds ?? WallClock.nowMilliseconds
    }

    /// Creates a sink on standard error in the shape that the configuration asks for.
    public convenience init(_ configuration: Configuration.Log) {
        let isText =
            switch configuration.format {
            case .auto: isatty(STDERR_FILENO) == 1
            case .json: false
            case .text: true
            }
        self.init(format: isText ? .text : .json)
    }

    /// A logger that writes here.
    ///
    /// - Parameter threshold: the least severe level that is logged.
    /// - Returns: a logger that any thread may use.
    public func logger(threshold: LogThreshold) -> Logger {
        Logger(isLogged: threshold.admits) { [self] level, event, fields in write(level, event, fields) }
    }

    /// Writes one entry, unless its call site has logged too often.
    public func write(_ level: LogLevel, _ event: StaticString, _ fields: [LogField]) {
        let now = nowMilliseconds()
        state.withLock { state in
            guard let suppressedCount = level == .debug ? 0 : state.limiter.admit(event, atMilliseconds: now) else {
                return
            }
            let line = LogLine(
                timeMilliseconds: now, level: level, event: event, fields: fields, suppressedCount: suppressedCount,
                droppedCount: state.droppedCount)
            write(format == .json ? line.json : line.text, &state)
        }
    }

    private func write(_ bytes: [UInt8], _ state: inout State) {
        // A pipe that is ready has room for PIPE_BUF bytes, which is as long as a line may be: the write cannot block.
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let isReady = poll(&poller, 1, state.isStalled ? 0 : Self.stallMilliseconds) == 1
        state.isStalled = !isReady
        guard isReady else {
            state.droppedCount += 1
            return
        }
        let written = Glibc.write(descriptor, bytes, bytes.count)
        if written == bytes.count { state.droppedCount = 0 } else { state.droppedCount += 1 }
    }
}

/// The least severe level that is logged; any thread may change it while others log.
public final class LogThreshold: Sendable {
    private let minimum: Atomic<Int>

    /// Creates a threshold.
    public init(_ minimum: LogLevel) { self.minimum = Atomic(minimum.rawValue) }

    /// Logs from this level on.
    public func set(_ minimum: LogLevel) { self.minimum.store(minimum.rawValue, ordering: .relaxed) }

    func admits(_ level: LogLevel) -> Bool { level.rawValue >= minimum.load(ordering: .relaxed) }
}

/// Decides which log entries are written: from each call site, 20 at once and then one a second.
struct LogRateLimiter {
    private struct Bucket {
        var credit: Int
        var lastMilliseconds: Int64
        var suppressedCount = 0
    }

    static let burstCount = 20
    static let refillMilliseconds: Int64 = 1_000

    /// Buckets by the address of the event's name, unique for each place in the code: a look-up allocates nothing.
    private var buckets: [UInt: Bucket] = [:]

    /// Asks for one entry.
    ///
    /// - Parameters:
    ///   - event: the event's name.
    ///   - now: the time in milliseconds.
    /// - Returns: nil if it must not be written, else how many were not since the last that was.
    mutating func admit(_ event: StaticString, atMilliseconds now: Int64) -> Int? {
        let callSite = event.hasPointerRepresentation ? UInt(bitPattern: event.utf8Start) : 0
        var bucket = buckets[callSite] ?? Bucket(credit: Self.burstCount, lastMilliseconds: now)
        defer { buckets[callSite] = bucket }
        let refills = (now - bucket.lastMilliseconds) / Self.refillMilliseconds
        if refills > 0 {
            bucket.credit = Int(min(Int64(Self.burstCount), Int64(bucket.credit) + refills))
            bucket.lastMilliseconds += refills * Self.refillMilliseconds
        } else if now < bucket.lastMilliseconds {
            // The wall clock was set back: restart the bucket, because otherwise the log would stay silent until the
            // clock has caught up.
            bucket.lastMilliseconds = now
        }
        guard bucket.credit > 0 else {
            bucket.suppressedCount += 1
            return nil
        }
        bucket.credit -= 1
        defer { bucket.suppressedCount = 0 }
        return bucket.suppressedCount
    }
}
