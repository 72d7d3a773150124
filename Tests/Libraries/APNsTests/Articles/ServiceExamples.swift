import APNs

/// The example of the article about services, beside stand-ins for the three packages that cannot be fetched here.
///
/// The stand-ins have the signatures of swift-log 1.6, swift-metrics 2.5 and swift-service-lifecycle 2.6.
enum ServiceExamples {
    struct LogAdapter: PushLogHandler {
        var logger: Logger

        func log(level: PushLogLevel, message: String, metadata: [String: String]) {
            logger.log(
                level: Logger.Level(rawValue: level.rawValue) ?? .info, "\(message)",
                metadata: metadata.mapValues { .string($0) })
        }
    }

    struct MetricsAdapter: PushMetricsFactory {
        func makeCounter(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let counter = Counter(label: label, dimensions: dimensions)
            return { counter.increment(by: $0) }
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> @Sendable (Int64) -> Void {
            let timer = Timer(label: label, dimensions: dimensions)
            return { timer.recordNanoseconds($0) }
        }

        func makeMeter(label: String, dimensions: [(String, String)]) -> @Sendable (Double) -> Void {
            let meter = Meter(label: label, dimensions: dimensions)
            return { meter.set($0) }
        }
    }

    struct PushService: Service {
        let client: PushClient

        func run() async throws {
            await cancelWhenGracefulShutdown { await client.run() }
        }
    }

    static func service(_ configuration: PushConfiguration, _ logger: Logger) throws -> PushService {
        let client = try PushClient(
            configuration, logHandler: LogAdapter(logger: logger), metricsFactory: MetricsAdapter())
        return PushService(client: client)
    }
}

extension ServiceExamples {
    struct Logger: Sendable {
        enum Level: String { case trace, debug, info, notice, warning, error, critical }

        struct Message: ExpressibleByStringInterpolation { init(stringLiteral value: String) {} }

        enum MetadataValue { case string(String) }

        func log(
            level: Level, _ message: @autoclosure () -> Message,
            metadata: @autoclosure () -> [String: MetadataValue]? = nil
        ) {}
    }

    final class Counter: Sendable {
        init(label: String, dimensions: [(String, String)]) {}
        func increment<DataType: BinaryInteger>(by amount: DataType) {}
    }

    final class Timer: Sendable {
        init(label: String, dimensions: [(String, String)]) {}
        func recordNanoseconds(_ duration: Int64) {}
    }

    final class Meter: Sendable {
        init(label: String, dimensions: [(String, String)]) {}
        func set<DataType: BinaryFloatingPoint>(_ value: DataType) {}
    }

    protocol Service: Sendable { func run() async throws }

    static func cancelWhenGracefulShutdown<T: Sendable>(
        _ operation: @Sendable @escaping () async throws -> T
    ) async rethrows -> T { try await operation() }
}
