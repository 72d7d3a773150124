import ChangeQueue
import Glibc
import Metrics
import Notifications
import PushCore
import PushTestKit
import Synchronization

/// Publishes events of devices with confirms, at a steady rate or as fast as the broker confirms them, and remembers
/// when it published each.
final class PacedPublisher: PublishHandler {
    private struct State {
        var isReady = false
        var outstanding = 0
    }

    private static let outstandingMaximum = 2_000

    private let publisher: ConfirmedPublisher
    private let state = Mutex(State())

    init(broker: String) throws {
        publisher = try ConfirmedPublisher(
            configuration: BrokerConfiguration(urls: [broker]), logger: .silent, metrics: MetricsRegistry())
        publisher.start(handler: self)
        while !state.withLock({ $0.isReady }) { usleep(1_000) }
    }

    func close() async { _ = await publisher.close(deadlineSeconds: 10) }

    /// Publishes an event for each device of a range.
    ///
    /// - Parameters:
    ///   - devices: the devices, by their numbers.
    ///   - perSecond: the rate; nil for as fast as it goes.
    /// - Returns: when each was published, in milliseconds since 1970.
    func publish(_ devices: Range<Int>, perSecond: Double?) -> [Double] {
        var published: [Double] = []
        published.reserveCapacity(devices.count)
        let start = Self.nowMilliseconds()
        while published.count < devices.count {
            let elapsed = Self.nowMilliseconds() - start
            let due = perSecond.map { Int($0 * elapsed / 1_000) } ?? published.count + 200
            let count = min(devices.count - published.count, due - published.count, room())
            if count > 0 {
                // Before it is handed over: the delay begins here, also if this thread has to wait then.
                let first = devices.lowerBound + published.count
                published.append(contentsOf: repeatElement(Self.nowMilliseconds(), count: count))
                send(first, count)
            } else {
                usleep(500)
            }
        }
        return published
    }

    /// Publishes one event of whatever kind.
    func publish(body: String) {
        state.withLock { $0.outstanding += 1 }
        publisher.publish([
            OutgoingMessage(
                identifier: 0, exchange: "apus.changes", routingKey: "push.requested",
                message: TestEvents.message(body))
        ])
    }

    private func room() -> Int { Self.outstandingMaximum - state.withLock { $0.outstanding } }

    private func send(_ first: Int, _ count: Int) {
        state.withLock { $0.outstanding += count }
        publisher.publish(
            (first..<first + count).map { index in
                OutgoingMessage(
                    identifier: UInt64(index), exchange: "apus.changes",
                    routingKey: "dataset.changed.\(TestDevices.identity(index))",
                    message: TestEvents.message(RegisteredDevice.event(index, syncCount: 1)))
            })
    }

    static func nowMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        state.withLock { $0.outstanding -= outcomes.count }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        state.withLock { $0.isReady = isReady }
    }
}
