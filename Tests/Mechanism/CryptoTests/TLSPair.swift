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

/// Two connected non-blocking sockets in one process.
final class SocketPair {
    let first: Int32
    let second: Int32
    private var isSecondOpen = true

    init() throws {
        var descriptors: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { throw POSIXFailure(code: errno) }
        (first, second) = (descriptors[0], descriptors[1])
        // In a process without an event loop a write to a closed peer would end it.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        close(first)
        closeSecond()
    }

    /// Ends the second socket, at once for the first one.
    func closeSecond() {
        if isSecondOpen {
            // A program that another test is just starting may have an end of it for a moment.
            shutdown(second, Int32(SHUT_RDWR))
            close(second)
        }
        isSecondOpen = false
    }

    struct POSIXFailure: Error {
        let code: Int32
    }
}
