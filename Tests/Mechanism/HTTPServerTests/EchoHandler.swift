import HTTPServer
import PushTestKit
import Synchronization

/// Says what it was asked, and defers what is under `/later` until it is told to go on, and answers
/// `/bare/STATUS` with that status and an `x`.
final class EchoHandler: HTTPHandler {
    private let responders = Mutex<[HTTPResponder]>([])
    private let dropped = Mutex(0)

    private var waitingCount: Int { responders.withLock { $0.count } }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        switch request.target.segments.first {
        case "later": .later { responder in self.responders.withLock { $0.append(responder) } }
        case "held": .held { responder in self.responders.withLock { $0.append(responder) } }
        case "twice":
            .later { responder in
                responder.respond(.text(200, "first"))
                responder.respond(.text(200, "second"))
            }
        case "bare":
            .now(HTTPResponse(status: request.target.segments.last.flatMap { Int($0) } ?? 200, body: [0x78]))
        case "never": .later { _ in self.dropped.withLock { $0 += 1 } }
        default: .now(echo(request))
        }
    }

    private func echo(_ request: HTTPRequest) -> HTTPResponse {
        let lines =
            [
                request.method, request.target.rawPath, request.target.segments.joined(separator: "|"),
                request.target.queryItems.map { "\($0.name)=\($0.value)" }.joined(separator: "|"),
                request.field("x-one") ?? "-", request.clientAddress, "\(request.body.count)",
            ]
        return .content(200, type: "text/plain", Array(lines.joined(separator: "\n").utf8) + request.body)
    }

    /// Answers all that wait.
    func release() {
        let waiting = responders.withLock { responders in
            defer { responders = [] }
            return responders
        }
        for responder in waiting { responder.respond(.text(200, "late")) }
    }

    /// Whether all answers would be lost.
    var isAbandoned: Bool { responders.withLock { $0.allSatisfy(\.isAbandoned) } }

    /// Waits until so many requests wait.
    func waitForRequests(_ count: Int) async throws {
        try await eventually("\(count) requests to wait") {
            waitingCount
        } until: {
            $0 >= count
        }
    }
}
