import ChangeEvents
import ChangeQueue
import EventLoop
import Glibc
import LoadGenerator
import Messages
import Synchronization

/// Publishes events when they are due, on a thread that does nothing else.
///
/// It sleeps with the kernel's clock rather than with a loop's timers, whose ticks are a millisecond long.
final class LoadPacer: Sendable {
    /// How long it sleeps at most before it looks whether it is to stop, in nanoseconds.
    private static let longestNapNanoseconds: UInt64 = 50_000_000
    /// How long it sleeps at least, in nanoseconds: above 5 000 events a second, some go together.
    ///
    /// A wake-up for each event would take twice the processor time from the deployment that is measured.
    private static let shortestNapNanoseconds: UInt64 = 200_000
    private static let batchMaximum = 256

    private let books: LoadBooks
    private let writer: LoadEventWriter
    private let publishers: [ConfirmedPublisher]
    private let exchange: String
    private let openMaximum: Int
    private let isStopped = Atomic<Bool>(false)
    private let isEnded = Atomic<Bool>(false)
    private let wasFull = Atomic<Bool>(false)

    /// Whether events were late because too many others awaited their confirm.
    var hasWaitedForConfirms: Bool { wasFull.load(ordering: .relaxed) }

    init(
        books: LoadBooks, writer: LoadEventWriter, publishers: [ConfirmedPublisher], exchange: String,
        openMaximum: Int
    ) {
        self.books = books
        self.writer = writer
        self.publishers = publishers
        self.exchange = exchange
        self.openMaximum = openMaximum
    }

    /// Whether it has published its last event.
    var hasEnded: Bool { isEnded.load(ordering: .relaxed) }

    /// Publishes no more events.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Publishes all events of a clock; blocks its thread until the last one.
    ///
    /// - Parameters:
    ///   - clock: when events are due.
    ///   - countMaximum: how many events there are at most.
    ///   - graceSeconds: for how long after its moment a late event is still published.
    ///   - start: the start of the clock, on both clocks of the system.
    /// - Returns: how many events were due and could not be published.
    func run(
        _ clock: ArrivalClock, countMaximum: Int, graceSeconds: Double,
        start: (nanoseconds: UInt64, microseconds: Int64)
    ) -> Int {
        defer { isEnded.store(true, ordering: .relaxed) }
        var clock = clock
        var number = 0
        var next = clock.next()
        while let first = next, number < countMaximum, !isStopped.load(ordering: .relaxed) {
            let due = start.nanoseconds + UInt64(first * 1_000_000_000)
            let now = MonotonicClock.nowNanoseconds()
            guard due <= now else {
                sleep(until: min(max(due, now + Self.shortestNapNanoseconds), now + Self.longestNapNanoseconds))
                continue
            }
            let room = min(Self.batchMaximum, openMaximum - books.unconfirmedCount, countMaximum - number)
            guard room > 0 else {
                wasFull.store(true, ordering: .relaxed)
                if now - due > UInt64(graceSeconds * 1_000_000_000) { break }
                sleep(until: now + Self.shortestNapNanoseconds)
                continue
            }
            var seconds: [Double] = []
            while let due = next, seconds.count < room,
                start.nanoseconds + UInt64(due * 1_000_000_000) <= now
            {
                seconds.append(due)
                next = clock.next()
            }
            publish(seconds.map { start.microseconds + Int64($0 * 1_000_000) }, first: number)
            number += seconds.count
        }
        guard !isStopped.load(ordering: .relaxed) else { return 0 }
        var left = 0
        while next != nil, number + left < countMaximum {
            left += 1
            next = clock.next()
        }
        return left
    }

    private func publish(_ intended: [Int64], first: Int) {
        var messages = publishers.map { _ in [OutgoingMessage]() }
        for (index, microseconds) in intended.enumerated() {
            let event = writer.event(first + index, atMilliseconds: microseconds / 1_000)
            var message = Message(body: event.body)
            message.properties.contentType = "application/cloudevents+json"
            message.properties.messageID = event.identifier
            messages[(first + index) % publishers.count].append(
                OutgoingMessage(
                    identifier: UInt64(first + index), exchange: exchange, routingKey: event.routingKey,
                    message: message))
        }
        // Noted first: the push may come before the publisher returns.
        books.published(intended)
        for (publisher, messages) in zip(publishers, messages) where !messages.isEmpty { publisher.publish(messages) }
    }

    private func sleep(until nanoseconds: UInt64) {
        var time = timespec()
        time.tv_sec = Int(nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        _ = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
    }
}
