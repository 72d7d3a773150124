import APNsTransport
import Crypto
import DispatchCore
import Essentials
import Metrics
import Notifications
import PushTestKit
import SQLiteRegistry
import ServiceClient
import StructuredLogging
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("Signing keys of a worker")
struct ProviderKeyTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private func sources(_ second: String) throws -> [ProviderTokenSource] {
        let other = ConfigurationFixture.app.replacing("\"chat\"", with: "\"mail\"")
            .replacing("com.example.chat", with: "com.example.mail").replacing("key_file = \"key.p8\"", with: second)
        return try fixture.load(ConfigurationFixture.app + other).configuration.apnsClient().routes.map(\.tokenSource)
    }

    @Test("Apps with the same key share one provider token, whatever the name of the file")
    func sharesTheToken() throws {
        try fixture.folder.write("copy.p8", fixture.folder.read("key.p8"))
        for file in ["key.p8", "copy.p8"] {
            let sources = try sources("key_file = \"\(file)\"")
            #expect(sources.count == 4)
            #expect(sources.allSatisfy { $0 === sources[0] })
        }
    }

    @Test("Two different keys under one identifier are refused")
    func refusesTwoKeys() throws {
        try fixture.folder.write("other.p8", ES256PrivateKey.generate().pem)
        #expect(throws: ServiceError.self) { try sources("key_file = \"other.p8\"") }
    }
}
