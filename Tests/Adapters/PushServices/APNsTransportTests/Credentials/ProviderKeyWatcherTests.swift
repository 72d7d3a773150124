import APNsTransport
import Crypto
import Essentials
import PushTestKit
import ServiceClient
import Testing

@Suite("Provider key watcher")
struct ProviderKeyWatcherTests {
    private let folder: TemporaryFolder
    private let log = LogCollector()
    private let old: ES256PrivateKey
    private let new: ES256PrivateKey
    private let source: ProviderTokenSource

    init() throws {
        folder = try TemporaryFolder()
        old = try ES256PrivateKey.generate()
        new = try ES256PrivateKey.generate()
        source = try ProviderTokenSource(key: old, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        try folder.write("key.p8", old.pem)
    }

    private var entry: ProviderKeyWatcher.Entry {
        .init(path: folder.path + "/key.p8", keyID: "ABC123DEFG", source: source)
    }

    private func isSigned(by key: ES256PrivateKey) throws -> Bool {
        let token = String(decoding: try source.token().headerValue, as: UTF8.self).dropFirst("bearer ".count)
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        let signature = try #require(Base64URL.decode(parts[2]))
        let publicKey = try ES256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        return publicKey.isValid(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    }

    @Test("A key file that changes is read again by itself, and its key signs from then on")
    func followsAChange() async throws {
        let watcher = try ProviderKeyWatcher(entries: [entry], intervalNanoseconds: 1_000_000, logger: log.logger)
        watcher.start()
        #expect(try isSigned(by: old))
        try folder.write("key.p8", new.pem)
        #expect(await log.wait(for: "apns.key.replaced", "ABC123DEFG"))
        #expect(try isSigned(by: new))
        #expect(try source.token().generation == 2)
        #expect(try source.token().keyGeneration == 2)
        watcher.stop()
    }

    @Test("A file that holds no usable key is logged once and the old key stays, until a good one comes")
    func keepsTheOldKey() async throws {
        let watcher = try ProviderKeyWatcher(entries: [entry], intervalNanoseconds: 1_000_000, logger: log.logger)
        watcher.start()
        try folder.write("key.p8", "garbage")
        #expect(await log.wait(for: "error apns.key.unusable", "holds no usable key", "the old key stays in use"))
        #expect(try isSigned(by: old))
        try folder.write("key.p8", new.pem)
        #expect(await log.wait(for: "apns.key.replaced"))
        #expect(try isSigned(by: new))
        watcher.stop()
        #expect(log.lines.value.count { $0.contains("garbage") } == 0)
        #expect(log.lines.value.count { $0.contains("holds no usable key") } == 1)
    }

    @Test("A file that is gone is logged once")
    func reportsAMissingFile() async throws {
        try folder.remove("key.p8")
        let watcher = try ProviderKeyWatcher(entries: [entry], intervalNanoseconds: 100_000, logger: log.logger)
        watcher.start()
        #expect(await log.wait(for: "apns.key.unusable"))
        try folder.write("key.p8", new.pem)
        #expect(await log.wait(for: "apns.key.replaced"))
        watcher.stop()
        #expect(log.lines.value.count { $0.contains("cannot be read") } == 1)
    }

    @Test("A file that was broken and holds the key in use again is told to be usable")
    func reportsTheRecovery() async throws {
        let watcher = try ProviderKeyWatcher(entries: [entry], intervalNanoseconds: 1_000_000, logger: log.logger)
        watcher.start()
        try folder.write("key.p8", "garbage")
        #expect(await log.wait(for: "apns.key.unusable"))
        try folder.write("key.p8", old.pem)
        #expect(await log.wait(for: "info apns.key.usable", "ABC123DEFG"))
        watcher.stop()
        #expect(log.lines.value.count { $0.contains("apns.key.replaced") } == 0)
        #expect(try source.token().generation == 1)
    }

    @Test("The same key again changes nothing, so no token is spent")
    func ignoresTheSameKey() throws {
        _ = try source.token()
        #expect(try !source.replaceKey(ES256PrivateKey(pem: Array(old.pem.utf8))))
        #expect(try !source.replaceKey(old, keyID: "ABC123DEFG"))
        #expect(throws: ServiceError.self) { try source.replaceKey(new, keyID: "no identifier") }
        #expect(try source.token().generation == 1)
    }
}
