import APNsTransport
import Notifications
import ServiceClient
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
    private let client: APNsClient
    private let request: PushRequest
    private let window: Int

    init(client: APNsClient, content: PushContent, token: DeviceToken, window: Int) {
        self.client = client
        self.window = window
        request = PushRequest(
            identifier: 0, route: 0, token: token, apnsID: APNsIdentifier(high: 0, low: 0), content: content)
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
            var next = request
            next.identifier = UInt64(index)
            // Each push has an identifier of its own, as in earnest: it is what HPACK cannot compress.
            next.apnsID = APNsIdentifier(
                high: UInt64(index) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(index) &* 0xC2B2_AE3D_27D4_EB4F)
            batch.append(next)
        }
        client.send(batch)
    }

    func pushesEnded(_ results: [PushResult]) {
        let (continuation, accepted) = state.withLock { state in
            for result in results {
                if case .answered(let answer) = result.outcome, answer.status == 200 { state.accepted += 1 }
            }
            state.toEnd -= results.count
            return (state.toEnd == 0 ? state.continuation.take() : nil, state.accepted)
        }
        if let continuation { continuation.resume(returning: accepted) } else { send(results.count) }
    }
}
