import Notifications
import Synchronization

/// Sends pushes through a client, with a number of them out at any time, and waits for the last answer.
final class PushLoad: PushTransportHandler {
    private struct State {
        var toSend = 0
        var toEnd = 0
        var accepted = 0
        var continuation: CheckedContinuation<Int, Never>?
    }

    private let state = Mutex(State())
    private let transport: any PushTransport
    private let content: PushContent
    private let tokens: [DeviceToken]
    private let window: Int

    /// Creates a load for the first route of a transport.
    ///
    /// - Parameters:
    ///   - transport: the transport that sends; the load has to be its handler.
    ///   - content: the content of all pushes.
    ///   - tokens: the devices, which get pushes in turn; at least one.
    ///   - window: how many pushes are out at any time.
    init(transport: any PushTransport, content: PushContent, tokens: [DeviceToken], window: Int) {
        self.transport = transport
        self.content = content
        self.tokens = tokens
        self.window = window
    }

    /// Sends this many, and says how many were accepted; one run at a time.
    func run(count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            state.withLock { $0 = State(toSend: count, toEnd: count, continuation: continuation) }
            send(window)
        }
    }

    private func send(_ most: Int) {
        let (first, count) = state.withLock { state in
            let count = min(most, state.toSend)
            state.toSend -= count
            return (state.toSend, count)
        }
        guard count > 0 else { return }
        var batch: [PushRequest] = []
        batch.reserveCapacity(count)
        for index in first..<first + count {
            // Each push has an identifier of its own, as in earnest: it is what HPACK cannot compress.
            let identifier = APNsIdentifier(
                high: UInt64(index) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(index) &* 0xC2B2_AE3D_27D4_EB4F)
            batch.append(
                PushRequest(
                    identifier: UInt64(index), route: 0, token: tokens[index % tokens.count], apnsID: identifier,
                    content: content))
        }
        transport.send(batch)
    }

    func pushesEnded(_ results: [AttemptResult]) {
        let (continuation, accepted) = state.withLock { state in
            for result in results {
                if case .answered(let answer) = result.outcome, (200..<300).contains(answer.status) {
                    state.accepted += 1
                }
            }
            state.toEnd -= results.count
            return (state.toEnd == 0 ? state.continuation.take() : nil, state.accepted)
        }
        if let continuation { continuation.resume(returning: accepted) } else { send(results.count) }
    }
}
