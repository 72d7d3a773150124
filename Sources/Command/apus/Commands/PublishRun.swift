import ChangeEvents
import DispatchCore
import EventLoop
import Glibc
import JSON
import Synchronization

/// One use of `apus publish`: reads and checks events, hands them to the publisher, and counts what becomes of them.
final class PublishRun: PublishHandler {
    private struct State {
        /// The lines on which the events began that have no outcome; nil for an event made of options.
        var outstandingLines: [UInt64: Int?] = [:]
        /// The first events.
        var names: [EventName] = []
        var lastIdentifier: UInt64 = 0
        var confirmedCount = 0
        var returnedCount = 0
        var refusedCount = 0
        var badCount = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The identity of an event.
    struct EventName: Hashable, Sendable {
        let identifier: String
        let source: String
    }

    /// How many events may await their confirm; reading pauses beyond.
    private static let outstandingMaximum = 8_192
    private static let readBytes = 65_536

    private let publisher: any MessagePublisher
    private let exchange: String
    /// What became of an event that the publisher took.
    private let verb: String
    private let namesMaximum: Int
    private let state = Mutex(State())
    private let progress = ProgressLine()
    private let startedNanoseconds = MonotonicClock.nowNanoseconds()

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - publisher: takes the events.
    ///   - exchange: where they go.
    ///   - verb: what became of an event that the publisher took, for people.
    ///   - namesMaximum: of how many events the identity is remembered.
    init(publisher: any MessagePublisher, exchange: String, verb: String, namesMaximum: Int) {
        self.publisher = publisher
        self.exchange = exchange
        self.verb = verb
        self.namesMaximum = namesMaximum
    }

    // MARK: Reading

    /// Opens a file of events; `-` is standard input.
    static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.noInput, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    /// Publishes every event of an open file.
    ///
    /// - Parameters:
    ///   - descriptor: the file, which is closed in the end.
    ///   - path: how the file is called in messages.
    ///   - validator: checks the events.
    /// - Throws: `CommandFailure` (`inputOutput`) if it cannot be read to its end.
    func publishEvents(of descriptor: Int32, _ path: String, _ validator: EventValidator) async throws {
        defer { close(descriptor) }
        var validator = validator
        var splitter = JSONValueSplitter(bytesMaximum: EventLimits.bodyBytesMaximum)
        var buffer = [UInt8](repeating: 0, count: Self.readBytes)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.inputOutput, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            let found = count == 0 ? splitter.finish() : splitter.add(buffer[0..<count])
            for value in found { take(value, &validator) }
            guard count > 0 else { return }
            await waitForRoom()
        }
    }

    private func take(_ value: JSONValueSplitter.Value, _ validator: inout EventValidator) {
        guard let bytes = value.bytes else {
            return reportBad(value.lines, "it is longer than \(EventLimits.bodyBytesMaximum) bytes")
        }
        do throws(CommandFailure) { publish(try CheckedEvent(bytes, &validator), line: value.lines.lowerBound) } catch {
            reportBad(value.lines, error.message)
        }
    }

    private func reportBad(_ lines: ClosedRange<Int>, _ message: String) {
        state.withLock { $0.badCount += 1 }
        let isOne = lines.count == 1
        let location = isOne ? "line \(lines.lowerBound)" : "lines \(lines.lowerBound) to \(lines.upperBound)"
        progress.finish("\(location): \(message)")
    }

    /// Publishes an event.
    ///
    /// - Parameters:
    ///   - event: the event to publish.
    ///   - line: where it begins in the file, nil for an event made of options.
    func publish(_ event: CheckedEvent, line: Int?) {
        let identifier = state.withLock { state in
            state.lastIdentifier += 1
            if state.names.count < namesMaximum { state.names.append(event.name) }
            state.outstandingLines[state.lastIdentifier] = .some(line)
            return state.lastIdentifier
        }
        publisher.publish([
            OutgoingMessage(
                identifier: identifier, exchange: exchange, routingKey: event.routingKey, message: event.message)
        ])
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.outstandingLines.count < Self.outstandingMaximum { return true }
                state.waiter = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    // MARK: Outcomes

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for (identifier, outcome) in outcomes { take(outcome, of: identifier) }
        let (waiter, confirmedCount) = state.withLock { state in
            guard state.outstandingLines.count < Self.outstandingMaximum else {
                return (CheckedContinuation<Void, Never>?.none, state.confirmedCount)
            }
            defer { state.waiter = nil }
            return (state.waiter, state.confirmedCount)
        }
        progress.update("\(confirmedCount) events confirmed")
        waiter?.resume()
    }

    private func take(_ outcome: PublishOutcome, of identifier: UInt64) {
        let line = state.withLock { state in
            switch outcome {
            case .confirmed: state.confirmedCount += 1
            case .returned: state.returnedCount += 1
            case .refused: state.refusedCount += 1
            case .rejected: state.badCount += 1
            }
            return state.outstandingLines.removeValue(forKey: identifier) ?? nil
        }
        let location = line.map { "line \($0)" } ?? "the event"
        switch outcome {
        case .confirmed: break
        case .returned(let text): progress.finish("\(location): not published: \(text)")
        case .rejected(let text):
            progress.finish("\(location): not published: such a message is not accepted: \(text)")
        case .refused:
            progress.finish(
                "\(location): not published: RabbitMQ kept refusing it (basic.nack): "
                    + "a queue is full, or has lost its leader; publish it later")
        }
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        if !isReady { progress.finish("waiting: \(reason)") }
    }

    /// The identities of the first events.
    var names: [EventName] { state.withLock { $0.names } }

    /// Prints the counts and returns the exit code.
    func finish() -> ExitCode {
        let state = state.withLock { state in
            (
                confirmed: state.confirmedCount, returned: state.returnedCount,
                refused: state.refusedCount + state.outstandingLines.count, bad: state.badCount
            )
        }
        let seconds = Double(MonotonicClock.nowNanoseconds() - startedNanoseconds) / 1_000_000_000
        var text = "\(state.confirmed) \(state.confirmed == 1 ? "event" : "events") \(verb)"
        if state.confirmed == 1, let name = names.first {
            text += ": id \(name.identifier), source \(name.source)"
        }
        if state.confirmed > 1 { text += " (\(Int(Double(state.confirmed) / max(seconds, 0.001))) a second)" }
        if state.bad > 0 { text += ", \(state.bad) invalid" }
        if state.returned + state.refused > 0 { text += ", \(state.returned + state.refused) not confirmed" }
        progress.finish(text)
        if state.returned > 0 { return .unavailable }
        if state.refused > 0 { return .temporaryFailure }
        return state.bad > 0 ? .data : .ok
    }
}
