import APNsTransport
import ConnectionPool
import Crypto
import Essentials
import Foundation
import ServiceClient
import Synchronization
import Testing

/// Both clocks, set by the test.
private final class TestClock: Sendable {
    let seconds = Atomic<Int64>(1_800_000_000)

    var clock: ProviderTokenSource.Clock {
        {
            let now = self.seconds.load(ordering: .relaxed)
            return .init(wallSeconds: now, monotonicNanoseconds: UInt64(now) * 1_000_000_000)
        }
    }

    func pass(seconds: Int64) { self.seconds.wrappingAdd(seconds, ordering: .relaxed) }
}

@Suite("Provider token source")
struct ProviderTokenSourceTests {
    private func makeSource(_ time: TestClock) throws -> (source: ProviderTokenSource, key: ES256PrivateKey) {
        let key = try ES256PrivateKey.generate()
        let source = try ProviderTokenSource(
            key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: time.clock)
        return (source, key)
    }

    @Test("The token is a bearer JSON Web Token that the key's public half verifies")
    func signsATokenThatVerifies() throws {
        let (source, key) = try makeSource(TestClock())
        let value = String(decoding: try source.token().headerValue, as: UTF8.self)
        #expect(value.hasPrefix("bearer "))
        let parts = value.dropFirst("bearer ".count).split(separator: ".")
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        let claims = try #require(Base64URL.decode(parts[1]))
        #expect(String(decoding: claims, as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1800000000}"#)
        let publicKey = try ES256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(publicKey.isValid(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test("Many threads that ask at once share one token")
    func isMintedOnce() async throws {
        let time = TestClock()
        let (source, _) = try makeSource(time)
        let generations = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<100 { group.addTask { try source.token().generation } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(generations == [1])
    }

    @Test("An expired token is replaced once, however many report it, and only when it is 20 minutes old")
    func replacesAnExpiredTokenOnce() throws {
        let time = TestClock()
        let (source, _) = try makeSource(time)
        #expect(try source.token().generation == 1)
        #expect(try source.tokenExpired(generation: 1).generation == 1)
        time.pass(seconds: 1_200)
        #expect(try source.tokenExpired(generation: 1).generation == 2)
        #expect(try source.tokenExpired(generation: 1).generation == 2)
        #expect(try source.tokenExpired(generation: 2).generation == 2)
        time.pass(seconds: 3_000)
        #expect(try source.token().generation == 3)
    }

    @Test("Those who do not know of each other share the source of a key, for as long as one holds it")
    func sharesSources() throws {
        let key = try ES256PrivateKey.generate()
        let first = try ProviderTokenSource.shared(key: key, keyID: "SHAREDKEY1", teamID: "DEF123GHIJ")
        let copy = try ES256PrivateKey(pem: Array(key.pem.utf8))
        #expect(try ProviderTokenSource.shared(key: copy, keyID: "SHAREDKEY1", teamID: "DEF123GHIJ") === first)
        #expect(try ProviderTokenSource.shared(key: key, keyID: "SHAREDKEY1", teamID: "OTHERTEAM1") !== first)
        #expect(
            try ProviderTokenSource.shared(
                key: ES256PrivateKey.generate(), keyID: "SHAREDKEY1", teamID: "DEF123GHIJ") !== first)
        try first.replaceKey(ES256PrivateKey.generate())
        #expect(try ProviderTokenSource.shared(key: key, keyID: "SHAREDKEY1", teamID: "DEF123GHIJ") !== first)
    }

    @Test("Identifiers that could not stand in a token are refused", arguments: ["", "A\"B", "A B", "ÄBC", "a,b"])
    func refusesIdentifiers(identifier: String) throws {
        let key = try ES256PrivateKey.generate()
        #expect(throws: ServiceError.self) {
            try ProviderTokenSource(key: key, keyID: identifier, teamID: "DEF123GHIJ")
        }
        #expect(throws: ServiceError.self) {
            try ProviderTokenSource(key: key, keyID: "ABC123DEFG", teamID: identifier)
        }
    }

    @Test(
        "A key file that is missing, empty, garbage or too large is refused; one that others can read is warned about"
    )
    func readsKeyFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "apus-key-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func code(_ content: String?) throws -> ServiceError.Code? {
            let path = folder.appending(path: UUID().uuidString).path
            if let content { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
            do throws(ServiceError) {
                _ = try ProviderKeyFile.read(path: path)
                return nil
            } catch {
                #expect(error.message.contains(path))
                return error.code
            }
        }
        #expect(try code(nil) == .keyUnreadable)
        #expect(try code("") == .keyInvalid)
        #expect(try code("garbage") == .keyInvalid)
        #expect(try code(String(repeating: "x", count: 70_000)) == .keyInvalid)
        #expect(throws: ServiceError.self) { try ProviderKeyFile.read(path: folder.path) }

        let path = folder.appending(path: "AuthKey.p8").path
        try Data(try ES256PrivateKey.generate().pem.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try ProviderKeyFile.read(path: path).warning?.contains("chmod 600") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try ProviderKeyFile.read(path: path).warning == nil)
    }
}
