import ChangeEvents
import Notifications
import PostgresRegistry
import PushTestKit
import RegistryCore
import Testing

/// Devices for tests, and a registry on the shared server for each.
enum Fixture {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    /// A registry in a database of its own.
    static func makeRegistry() async throws -> PostgresRegistry {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        return try PostgresRegistry.open(
            url: server.url(database: database), mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
    }

    /// Does something with an empty registry that is gone afterwards.
    static func withRegistry(_ body: (PostgresRegistry) throws -> Void) async throws {
        let server = try await PrivatePostgreSQL.shared()
        try await server.withDatabase { database in
            try body(
                try PostgresRegistry.open(
                    url: server.url(database: database), mode: .create, callMilliseconds: 120_000,
                    connectMilliseconds: 60_000))
        }
    }

    /// A device with a token of 32 bytes that its number makes.
    static func device(_ number: Int, identity: String? = nil) throws -> Device {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8) &+ $0 / 4) }
        return Device(
            deviceID: "device-\(number)", platform: .apns, token: try #require(DeviceToken(bytes: bytes)), app: "chat",
            identityPoolID: pool, identityID: identity ?? "identity:\(number)",
            registeredAtMilliseconds: 1_700_000_000_000)
    }

    /// Some devices, each of an identity of its own and subscribed to the dataset `settings`.
    static func registrations(_ numbers: Range<Int>) throws -> [DeviceRegistration] {
        try numbers.map { DeviceRegistration(device: try device($0), datasetNames: ["settings"]) }
    }

    /// A request for the subscribers of a device's own `settings`.
    static func request(_ number: Int) -> AudienceRequest {
        let key = DatasetKey(identityPoolID: pool, identityID: "identity:\(number)", datasetName: "settings")
        return AudienceRequest(audience: .dataset(key))
    }
}
