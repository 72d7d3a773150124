import HTTP2
import PushTestKit
import Synchronization

/// A peer that misbehaves at random but truthfully: it knows which pushes it has processed.
final class FaultScript: Sendable {
    private struct State {
        var random: SeededGenerator
        var processed: [String: Int] = [:]
        /// The last stream that a connection processes, once it has said so.
        var lastStreams: [Int: Int32] = [:]
        var faultCount = 0
    }

    private enum Fault {
        case none
        case refused
        case reset
        case silence
        case goAway
        case cut
        case rejection
        case settings
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    /// How often each token's push was processed, or may have been.
    var processed: [String: Int] { state.withLock { $0.processed } }
    var faultCount: Int { state.withLock { $0.faultCount } }

    var script: PeerScript {
        var script = PeerScript()
        script.onRequest = { [self] connection, request in serve(connection, request) }
        return script
    }

    private func draw() -> (fault: Fault, number: UInt32) {
        state.withLock { state in
            let number = UInt32.random(in: 1...100, using: &state.random)
            let fault: Fault =
                switch Int.random(in: 0..<200, using: &state.random) {
                case 0..<8: .refused
                case 8..<12: .reset
                case 12..<16: .silence
                case 16..<18: .goAway
                case 18: .cut
                case 19..<35: .rejection
                case 35..<40: .settings
                default: .none
                }
            if fault != .none { state.faultCount += 1 }
            return (fault, number)
        }
    }

    private func note(_ request: PeerRequest) {
        state.withLock { $0.processed[request.token, default: 0] += 1 }
    }

    private func serve(_ connection: PeerConnection, _ request: PeerRequest) {
        let lastStream = state.withLock { $0.lastStreams[connection.number] }
        // A later request may have come in the same bytes as the request that made the connection go away.
        guard lastStream.map({ request.stream <= $0 }) ?? true else { return }
        let (fault, number) = draw()
        switch fault {
        case .refused: connection.reset(request, errorCode: 7)
        case .goAway:
            state.withLock { $0.lastStreams[connection.number] = request.stream - 2 }
            connection.http?.goAway(lastStreamID: request.stream - 2)
        case .cut: connection.http?.close()
        case .reset:
            note(request)
            connection.reset(request, errorCode: 2)
        case .silence: note(request)
        case .rejection:
            note(request)
            let (status, reason) = [
                (400, "BadDeviceToken"), (410, "Unregistered"), (429, "TooManyRequests"), (500, "InternalServerError"),
            ][Int(number) % 4]
            connection.reject(request, status: status, reason: reason)
        case .settings:
            connection.http?.submitSettings(maxConcurrentStreams: number % 3 == 0 ? 1 : number)
            fallthrough
        case .none:
            note(request)
            connection.answer(request)
        }
    }
}
