import Crypto
import EventLoop
import HTTP2

/// Tries whether a server can be reached, shows a valid certificate and speaks HTTP/2, as APNs does.
final class HandshakeProbe: HTTP2Handler {
    private let server: String
    private let finish: (ConnectionProbe.Outcome) -> Void
    private var isReady = false

    private init(server: String, finish: @escaping (ConnectionProbe.Outcome) -> Void) {
        self.server = server
        self.finish = finish
    }

    /// Connects, waits for the server's SETTINGS, and closes again; the connection's own deadline bounds it all.
    static func run(host: String, port: UInt16, trustAnchorsFile: String?) async -> ConnectionProbe.Outcome {
        let server = "\(host):\(port)"
        do {
            let context = try TLSContext.client(extraTrustAnchorsFile: trustAnchorsFile, applicationProtocols: ["h2"])
            let loop = try EventLoop(name: "apns-check")
            let outcome = await withCheckedContinuation { continuation in
                loop.submit {
                    let probe = HandshakeProbe(server: server) { continuation.resume(returning: $0) }
                    probe.connect(context, host: host, port: port, loop: loop)
                }
            }
            loop.stopAndJoin()
            return outcome
        } catch {
            return .failed("\(server): \(error)", .unavailable)
        }
    }

    private func connect(_ context: TLSContext, host: String, port: UInt16, loop: EventLoop) {
        do {
            let socket = try TCPSocket.connect(host: host, port: port)
            try HTTP2Connection(client: context, serverName: host, socket: socket, loop: loop, handler: self).start()
        } catch {
            finish(.failed("\(server): \(error)", .unavailable))
        }
    }

    func http2Ready(_ connection: HTTP2Connection) {
        isReady = true
        connection.close()
    }

    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {}

    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32) {}

    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32) {}

    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason) {
        if isReady {
            finish(.ok("certificate verified, HTTP/2 agreed"))
        } else {
            finish(.failed("\(server): \(reason)", .unavailable))
        }
    }
}
