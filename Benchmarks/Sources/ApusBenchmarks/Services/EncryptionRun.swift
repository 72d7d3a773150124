import Crypto
import Notifications
import Synchronization
import WebPushTransport

/// The encryption of messages for browsers without a push service: on the client's threads, and the least it can cost.
struct EncryptionRun {
    /// Counts the messages that are encrypted, and says when all are.
    private final class Progress: Sendable {
        private let state: Mutex<(open: Int, failed: Int)>

        init(count: Int) { state = Mutex((count, 0)) }

        var failed: Int { state.withLock { $0.failed } }

        /// Notes results, and says whether they were the last ones.
        func ended(_ results: [EncryptionResult]) -> Bool {
            let failed = results.count { if case .failure = $0.body { true } else { false } }
            return state.withLock { state in
                state.open -= results.count
                state.failed += failed
                return state.open == 0
            }
        }
    }

    let content: PushContent
    /// The browsers, which get messages in turn.
    let keys: [WebPushKeys]

    init(_ run: WebPushClientRun) {
        content = run.content
        keys = run.tokens.compactMap { $0.details?.webPushKeys }
    }

    /// Measures the cost of messages on the threads of the client, from the first job to the last result.
    func measurePool(count: Int, threads: Int) async throws -> LoadTool.Figures {
        let progress = Progress(count: count)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pool = try EncryptionPool(threadCount: threads, waitingMaximum: count) { results in
            if progress.ended(results) { end.finish() }
        }
        let jobs = (0..<count).map { EncryptionJob(push: $0, content: content, keys: keys[$0 % keys.count]) }
        let figures = try await Self.measure(count: count) {
            _ = pool.submit(jobs)
            for await _ in ends {}
        }
        pool.close()
        guard progress.failed == 0 else {
            throw BenchmarkFailure(description: "\(progress.failed) of \(count) messages could not be encrypted")
        }
        return figures
    }

    /// Measures the cost of the same calls of OpenSSL in a loop on one thread, and nothing else (RFC 8291 section 3.4).
    func measureCryptography(count: Int) async throws -> LoadTool.Figures {
        var cryptography = try Cryptography()
        return try await Self.measure(count: count) {
            for index in 0..<count { try cryptography.encrypt(content.payload, for: keys[index % keys.count]) }
        }
    }

    private static func measure(count: Int, _ body: () async throws -> Void) async throws -> LoadTool.Figures {
        let clock = ContinuousClock()
        let (cpu, start) = (ProcessorTime.ownMicroseconds(), clock.now)
        try await body()
        let elapsed = start.duration(to: clock.now)
        let spent = ProcessorTime.ownMicroseconds() - cpu
        return LoadTool.Figures(perSecond: Double(count) / elapsed.seconds, microseconds: spent / Double(count))
    }
}

/// The cryptography of a message for a browser: a key pair, an agreement, two derivations, a cipher.
private struct Cryptography {
    private static let keyInfo = Array("WebPush: info\0".utf8)
    private static let contentKeyInfo = Array("Content-Encoding: aes128gcm\0".utf8)
    private static let nonceInfo = Array("Content-Encoding: nonce\0".utf8)

    private let agreement: P256KeyAgreement
    private let derivation: HKDF
    private let cipher: AES128GCM
    private var salt: [UInt8] = []
    private var secret = [UInt8](repeating: 0, count: P256KeyAgreement.secretBytes)
    private var inputKey = [UInt8](repeating: 0, count: 32)
    private var contentKey = [UInt8](repeating: 0, count: AES128GCM.keyBytes)
    private var nonce = [UInt8](repeating: 0, count: AES128GCM.nonceBytes)
    private var info: [UInt8] = []
    private var message: [UInt8] = []

    init() throws {
        agreement = try P256KeyAgreement()
        derivation = try HKDF()
        cipher = try AES128GCM()
    }

    mutating func encrypt(_ plaintext: [UInt8], for keys: WebPushKeys) throws {
        salt.removeAll(keepingCapacity: true)
        try RandomBytes.append(16, to: &salt)
        let pair = try agreement.generate()
        try agreement.agree(pair, with: keys.publicKey, into: &secret)
        info.removeAll(keepingCapacity: true)
        info += Self.keyInfo
        info += keys.publicKey
        info += pair.publicPoint
        try derivation.extract(secret, salt: keys.authenticationSecret)
        try derivation.expand(into: &inputKey, info: info)
        try derivation.extract(inputKey, salt: salt)
        try derivation.expand(into: &contentKey, info: Self.contentKeyInfo)
        try derivation.expand(into: &nonce, info: Self.nonceInfo)
        message.removeAll(keepingCapacity: true)
        message += plaintext
        try cipher.seal(&message, from: 0, key: contentKey, nonce: nonce)
    }
}
