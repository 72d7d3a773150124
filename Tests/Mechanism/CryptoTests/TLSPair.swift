import Crypto
import Glibc
import PushTestKit

/// A client and a server in one process, moved forward in turn.
final class TLSPair {
    let sockets: SocketPair
    let client: TLSSession
    let server: TLSSession
    private(set) var serverError: CryptoError?

    init(client clientContext: TLSContext, server serverContext: TLSContext, serverName: String) throws {
        sockets = try SocketPair()
        client = try TLSSession(client: clientContext, socket: sockets.first, serverName: serverName)
        server = try TLSSession(server: serverContext, socket: sockets.second)
    }

    /// Completes the handshake of both, or throws what the client says about it.
    func handshake() throws {
        var isClientDone = false
        var isServerDone = false
        for _ in 0..<100 where !(isClientDone && isServerDone) {
            if !isClientDone { isClientDone = try client.handshake() == .done }
            guard !isServerDone, serverError == nil else { continue }
            do throws(CryptoError) {
                isServerDone = try server.handshake() == .done
            } catch {
                serverError = error
                // A client that cannot know yet finds the end of the stream.
                if isClientDone { throw error }
            }
        }
        guard isClientDone, isServerDone else { throw StuckHandshake() }
    }

    struct StuckHandshake: Error {}

    /// Makes an identity that is valid for an hour around now, or shifted from there.
    static func identity(names: [String], shiftSeconds: Int64 = 0) throws -> ServerIdentity {
        let now = Int64(time(nil)) + shiftSeconds
        return try ServerIdentity.selfSigned(
            names: names, notBeforeSeconds: now - 3_600, notAfterSeconds: now + 3_600)
    }

    /// Runs `body` with a client context that trusts the identities.
    static func trusting<Result>(
        _ identities: [ServerIdentity], protocols: [String] = ["h2"], _ body: (TLSContext) throws -> Result
    ) throws -> Result {
        let folder = try TemporaryFolder()
        let path = try folder.write("anchors.pem", identities.map(\.certificateChainPEM).joined())
        return try withExtendedLifetime(folder) {
            try body(try TLSContext.client(extraTrustAnchorsFile: path, applicationProtocols: protocols))
        }
    }
}
