import PushTestKit

/// Events that are made as they are published.
struct BenchmarkLoad: LoadSource {
    private let count: Int
    private let make: @Sendable (Int) -> LoadMessage
    private var published = 0

    /// Creates a load.
    ///
    /// - Parameters:
    ///   - count: how many events it has.
    ///   - make: the event of a number from 0.
    init(count: Int, _ make: @escaping @Sendable (Int) -> LoadMessage) {
        self.count = count
        self.make = make
    }

    mutating func next() -> Int? {
        guard published < count else { return nil }
        defer { published += 1 }
        return published
    }

    func message(of event: Int) -> LoadMessage { make(event) }
}

extension Workbench {
    /// Publishes a load, and waits until the broker has confirmed all of it.
    ///
    /// - Parameters:
    ///   - load: the events.
    ///   - broker: where to.
    ///   - perSecond: the rate; nil for as fast as the broker confirms.
    /// - Returns: when each event was published, in microseconds since 1970.
    /// - Throws: `BenchmarkFailure` if not all were confirmed.
    @discardableResult
    func publish(_ load: BenchmarkLoad, to broker: PrivateRabbitMQ, perSecond: Double? = nil) async throws -> [Int64] {
        let publisher = try LoadPublisher(
            urls: [broker.url], exchange: "apus.changes", source: load,
            pace: LoadPace(eventsPerSecond: perSecond, openMaximum: 2_000, tickMilliseconds: 1))
        publisher.start()
        let isOver = await publisher.load.wait {
            $0.isAtEnd && $0.openCount == 0 || $0.interruptionCount + $0.refusedCount > 0
        }
        let published = publisher.load.value
        try await publisher.finish(confirmSeconds: 10)
        guard isOver, published.confirmedMilliseconds.count == published.events.count else {
            throw BenchmarkFailure(description: "not every event was confirmed: \(published.summary)")
        }
        return published.publishedMicroseconds
    }

    /// Publishes an event for each device of a range, and waits until the broker has confirmed all of them.
    ///
    /// - Parameters:
    ///   - devices: the devices, by their numbers.
    ///   - broker: where to.
    ///   - perSecond: the rate; nil for as fast as the broker confirms.
    /// - Returns: when each event was published, in microseconds since 1970.
    /// - Throws: `BenchmarkFailure` if not all were confirmed.
    @discardableResult
    func publish(
        _ devices: Range<Int>, to broker: PrivateRabbitMQ, perSecond: Double? = nil
    ) async throws -> [Int64] {
        let first = devices.lowerBound
        let load = BenchmarkLoad(count: devices.count) { RegisteredDevice.message(first + $0) }
        return try await publish(load, to: broker, perSecond: perSecond)
    }

    /// How long pushes took from their publication to the answer that the simulator recorded.
    ///
    /// - Parameters:
    ///   - record: the simulator's file.
    ///   - published: when the event of each device was published, in microseconds since 1970.
    ///   - devices: the devices, by their numbers.
    /// - Returns: a delay for each device, sorted, in milliseconds.
    /// - Throws: if the file cannot be read, or has not one push for each of the devices.
    static func delays(in record: String, published: [Int64], devices: Range<Int>) throws -> [Double] {
        var record = SimulatorRecord(path: record)
        var delays: [Double] = []
        while true {
            let some = try record.next { request -> Double? in
                guard let device = Int(request.token.suffix(8), radix: 16), devices.contains(device) else { return nil }
                return Double(request.timeMicroseconds - published[device - devices.lowerBound]) / 1_000
            }
            if some.isEmpty { break }
            delays += some
        }
        guard delays.count == devices.count else {
            throw BenchmarkFailure(description: "\(delays.count) of \(devices.count) pushes were recorded")
        }
        return delays.sorted()
    }
}
