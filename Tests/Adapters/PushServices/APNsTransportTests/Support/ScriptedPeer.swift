import Crypto
import EventLoop
import Foundation
import PushTestKit

/// A server that speaks HTTP/2 over TLS and does what a test's script says.
final class ScriptedPeer: Sendable {
    /// Its port on 127.0.0.1.
    let port: UInt16
    /// A PEM file with which a client trusts it.
    let trustAnchorsFile: String
    let facts = Watched(PeerFacts())
    private let loop: EventLoop
    private let core: LoopBound<PeerCore>

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - script: the behaviour of the server.
    ///   - names: the subject names of its certificate.
    ///   - validitySeconds: from when until when its certificate is valid, counted from now.
    ///   - applicationProtocols: the protocols that it offers by ALPN.
    /// - Throws: if there is no port, no thread or no certificate.
    init(
        _ script: PeerScript = PeerScript(), names: [String] = ["127.0.0.1", "localhost"],
        validitySeconds: ClosedRange<Int64> = -3_600...86_400, applicationProtocols: [String] = ["h2"]
    ) async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let identity = try ServerIdentity.selfSigned(
            names: names, notBeforeSeconds: now + validitySeconds.lowerBound,
            notAfterSeconds: now + validitySeconds.upperBound)
        let file = FileManager.default.temporaryDirectory.appending(path: "apus-peer-\(UUID().uuidString).pem")
        try Data(identity.certificateChainPEM.utf8).write(to: file)
        trustAnchorsFile = file.path
        let context = try TLSContext.server(identity, applicationProtocols: applicationProtocols)
        loop = try EventLoop(name: "peer")
        let core = LoopBound(PeerCore(loop: loop, script: script, context: context, facts: facts), to: loop)
        self.core = core
        port = try await loop.run { try core.value.listen(port: 0) }
    }

    /// Runs `work` on the loop with the connections that are open.
    func onLoop(_ work: @escaping @Sendable ([PeerConnection]) -> Void) async throws {
        try await loop.run { [core] in work(core.value.connections) }
    }

    /// Closes everything.
    func stop() async throws {
        try await loop.run { [core] in core.value.stop() }
        _ = await facts.wait { $0.openConnectionCount == 0 }
        loop.stopAndJoin()
        try? FileManager.default.removeItem(atPath: trustAnchorsFile)
    }
}

/// The behaviour of the scripted peer; runs on its loop.
struct PeerScript: Sendable {
    /// A connection is ready.
    var onConnect: @Sendable (PeerConnection) -> Void = { _ in }
    /// A request is complete; the default accepts it.
    var onRequest: @Sendable (PeerConnection, PeerRequest) -> Void = { $0.answer($1) }
    /// How many streams a client may open on a connection.
    var streamsMaximum: UInt32 = 100
    /// How many bytes of bodies a client may send on a connection.
    var windowBytes: UInt32 = 16 << 20
    /// Whether the window is opened again as bytes arrive.
    var opensWindows = true
}

/// A request that reached the scripted peer.
struct PeerRequest: Sendable {
    var connection: Int
    var stream: Int32
    var headers: [String: String] = [:]
    var body: [UInt8] = []

    /// The device token, in hexadecimal digits.
    var token: String { String((headers[":path"] ?? "").dropFirst("/3/device/".count)) }
    var identifier: String { headers["apns-id"] ?? "" }
}

/// The observations of the scripted peer.
struct PeerFacts: Sendable {
    var connectionCount = 0
    var openConnectionCount = 0
    var requestCount = 0
    /// The most requests that were unanswered on one connection.
    var openMaximum = 0
    /// The same, before the connection's first answer.
    var openBeforeFirstAnswerMaximum = 0
    var authorizations: Set<String> = []
    /// The error codes of streams that were reset, by either side.
    var resetCodes: [UInt32] = []
}
