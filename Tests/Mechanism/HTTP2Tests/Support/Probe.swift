import EventLoop
import HTTP2

/// Records what happens on a connection, lets a test react at once, and wakes tests that wait for something.
///
/// It belongs to the connection's loop.
final class Probe: HTTP2Handler {
    struct Message: Sendable {
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        var hasEnded = false

        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    struct GoAway: Sendable {
        let lastStreamID: Int32
        let errorCode: UInt32
        let debugData: [UInt8]
    }

    private struct Waiter {
        let condition: (Probe) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
        let timer: EventLoop.Timer
    }

    /// A condition that has not come true by then never will.
    private static let deadlineNanoseconds: UInt64 = 60_000_000_000

    /// For tests that count what they have sent.
    var submittedCount = 0
    var readyCount = 0
    var settingsCount = 0
    var messages: [Int32: Message] = [:]
    var endedCount = 0
    var closedStreams: [Int32: UInt32] = [:]
    var goAways: [GoAway] = []
    var pings: [UInt64] = []
    var closeReasons: [String] = []
    var closeReason: HTTP2CloseReason?

    var onReady: (HTTP2Connection) -> Void = { _ in }
    var onStreamEnded: (HTTP2Connection, Int32, Message) -> Void = { _, _, _ in }
    var onStreamClosed: (HTTP2Connection, Int32, UInt32) -> Void = { _, _, _ in }
    var onClosed: (HTTP2Connection) -> Void = { _ in }

    private let loop: EventLoop
    private var waiters: [Waiter] = []

    init(loop: EventLoop) { self.loop = loop }

    /// Adds a waiter; on the loop.
    func wait(until condition: @escaping (Probe) -> Bool, _ continuation: CheckedContinuation<Void, any Error>) {
        guard !condition(self) else { return continuation.resume() }
        var waiterTimer: EventLoop.Timer?
        let timer = loop.schedule(afterNanoseconds: Self.deadlineNanoseconds) { [self] in
            guard let index = waiters.firstIndex(where: { $0.timer == waiterTimer }) else { return }
            waiters.remove(at: index).continuation.resume(throwing: TestFailure("nothing came: \(summary)"))
        }
        waiterTimer = timer
        waiters.append(Waiter(condition: condition, continuation: continuation, timer: timer))
    }

    private var summary: String {
        "ready \(readyCount), settings \(settingsCount), streams \(messages.count), ended \(endedCount), "
            + "closed \(closedStreams.count), goaways \(goAways.count), pings \(pings.count), ends \(closeReasons)"
    }

    private func changed() {
        guard !waiters.isEmpty else { return }
        let ready = waiters.filter { $0.condition(self) }
        waiters.removeAll { waiter in ready.contains { $0.timer == waiter.timer } }
        for waiter in ready {
            loop.cancel(waiter.timer)
            waiter.continuation.resume()
        }
    }

    // MARK: HTTP2Handler

    func http2Ready(_ connection: HTTP2Connection) {
        readyCount += 1
        onReady(connection)
        changed()
    }

    func http2SettingsReceived(_ connection: HTTP2Connection) {
        settingsCount += 1
        changed()
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        let field = (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        messages[stream, default: Message()].headers.append(field)
    }

    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {
        messages[stream, default: Message()].body.append(contentsOf: bytes)
        changed()
    }

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {
        messages[stream, default: Message()].hasEnded = true
        endedCount += 1
        onStreamEnded(connection, stream, messages[stream, default: Message()])
        changed()
    }

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {
        closedStreams[stream] = errorCode
        onStreamClosed(connection, stream, errorCode)
        changed()
    }

    func http2GoAwayReceived(
        _ connection: HTTP2Connection, lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]
    ) {
        goAways.append(GoAway(lastStreamID: lastStreamID, errorCode: errorCode, debugData: debugData))
        changed()
    }

    func http2PingAcknowledged(_ connection: HTTP2Connection, opaque: UInt64) {
        pings.append(opaque)
        changed()
    }

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        closeReasons.append(reason.description)
        closeReason = reason
        onClosed(connection)
        changed()
    }
}
