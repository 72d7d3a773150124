import ChangeQueue
import EventLoop
import Glibc
import PushCore
import Synchronization

/// One use of `apus publish`: reads and checks events, hands them to the publisher, and counts what becomes of them.
final class PublishRun: PublishHandler {
    private struct State {
        var outstandingCount = 0
        var confirmedCount = 0
        var failedCount = 0
        var badCount = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// How many events may await their confirm; reading pauses beyond.
    private static let outstandingMaximum = 8_192
    private static let readBytes = 65_536

    private let publisher: ConfirmedPublisher
    private let exchange: String
    private let state = Mutex(State())
    private let progress = ProgressLine()
    private let startedNanoseconds = MonotonicClock.nowNanoseconds()

    init(publisher: ConfirmedPublisher, exchange: String) {
        self.publisher = publisher
        self.exchange = exchange
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

    /// Publishes every line of an open file.
    ///
    /// - Parameters:
    ///   - descriptor: the file, which is closed in the end.
    ///   - path: how the file is called in messages.
    /// - Throws: `CommandFailure` (`inputOutput`) if it cannot be read to its end.
    func publishLines(of descriptor: Int32, _ path: String) async throws {
        defer { close(descriptor) }
        var lines = LineSplitter(lineBytesMaximum: EventLimits.bodyBytesMaximum)
        var buffer = [UInt8](repeating: 0, count: Self.readBytes)
        let decoder = EventDecoder()
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.inputOutput, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            let found = count == 0 ? lines.finish() : lines.add(buffer[0..<count])
            for line in found { take(line, decoder) }
            guard count > 0 else { return }
            await waitForRoom()
        }
    }

    private func take(_ line: LineSplitter.Line, _ decoder: EventDecoder) {
        guard let bytes = line.bytes else {
            return reportBad(line.number, "it is longer than \(EventLimits.bodyBytesMaximum) bytes")
        }
        guard !bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") })
        else { return }
        do throws(CommandFailure) { publish(try CheckedEvent(bytes, decoder), number: line.number) } catch {
            reportBad(line.number, error.message)
        }
    }

    private func reportBad(_ number: Int, _ message: String) {
        state.withLock { $0.badCount += 1 }
        progress.finish("line \(number): \(message)")
    }

    /// Publishes an event.
    ///
    /// - Parameters:
    ///   - event: what to publish.
    ///   - number: the number of its line, nil for an event made of options.
    func publish(_ event: CheckedEvent, number: Int?) {
        state.withLock { $0.outstandingCount += 1 }
        publisher.publish([
            OutgoingMessage(
                identifier: UInt64(number ?? 0), exchange: exchange, routingKey: event.routingKey,
                message: event.message)
        ])
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.outstandingCount < Self.outstandingMaximum { return true }
                state.waiter = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    // MARK: Outcomes

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for (identifier, outcome) in outcomes {
            let place = identifier == 0 ? "the event" : "line \(identifier)"
            switch outcome {
            case .confirmed: break
            case .returned(let text):
                progress.finish("\(place): not published: \(text); run `apus topology apply`")
            case .refused: progress.finish("\(place): not published: RabbitMQ refused it")
            }
        }
        let (waiter, confirmedCount) = state.withLock { state in
            state.outstandingCount -= outcomes.count
            let confirmedCount = outcomes.count { $0.outcome == .confirmed }
            state.confirmedCount += confirmedCount
            state.failedCount += outcomes.count - confirmedCount
            guard state.outstandingCount < Self.outstandingMaximum else {
                return (CheckedContinuation<Void, Never>?.none, state.confirmedCount)
            }
            defer { state.waiter = nil }
            return (state.waiter, state.confirmedCount)
        }
        progress.update("\(confirmedCount) events confirmed")
        waiter?.resume()
    }

    func publisherStateChanged(isReady: Bool, reason: String) {
        if !isReady { progress.finish("waiting: \(reason)") }
    }

    /// Says what was published, and how the command ends.
    func finish() -> ExitCode {
        let state = state.withLock { ($0.confirmedCount, $0.failedCount + $0.outstandingCount, $0.badCount) }
        let (confirmedCount, failedCount, badCount) = state
        let seconds = Double(MonotonicClock.nowNanoseconds() - startedNanoseconds) / 1_000_000_000
        var text = "\(confirmedCount) \(confirmedCount == 1 ? "event" : "events") published and confirmed"
        if confirmedCount > 1 { text += " (\(Int(Double(confirmedCount) / max(seconds, 0.001))) a second)" }
        if badCount > 0 { text += ", \(badCount) bad" }
        if failedCount > 0 { text += ", \(failedCount) not confirmed" }
        progress.finish(text)
        if failedCount > 0 { return .unavailable }
        return badCount > 0 ? .data : .ok
    }
}
