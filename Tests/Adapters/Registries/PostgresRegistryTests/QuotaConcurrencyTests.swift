import Notifications
import PostgresRegistry
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

/// Quotas while several write at the same moment.
struct QuotaConcurrencyTests {
    private static func fill(
        _ url: String, _ quota: RegistryQuota, _ add: @escaping @Sendable (PostgresRegistry, String) throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let registry = try PostgresRegistry.open(
                        url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
                    registry.quotas = RegistryQuotas(limits: [quota: 10])
                    for number in 0..<10 {
                        do {
                            try add(registry, "\(writer)-\(number)")
                        } catch let error as RegistryError where error.code == .quotaExceeded {
                            continue
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func subscription(_ name: String, user: String) -> RecordSubscription {
        RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user(user), subscriptionID: name), recordType: "Song",
            savedAtMilliseconds: 1)
    }

    @Test("As many as the quota says are kept, however many add them at the same moment")
    func exactly() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let database = try await server.makeDatabase()
        let url = server.url(database: database)
        try await Self.fill(url, .subscriptionsPerOwner) { registry, name in
            _ = try registry.save([Self.subscription(name, user: "anna")])
        }
        #expect(try await server.run("SELECT count(*) FROM apus.subscription", database: database) == "10")
        _ = try await server.run("DELETE FROM apus.subscription", database: database)
        #expect(try await server.run("SELECT subscriptions + bytes FROM apus.app_usage", database: database) == "0")
        try await Self.fill(url, .subscriptionsPerApp) { registry, name in
            _ = try registry.save([Self.subscription(name, user: name)])
        }
        #expect(try await server.run("SELECT subscriptions FROM apus.app_usage", database: database) == "10")
        try await Self.fill(url, .devicesPerOwner) { registry, name in
            guard let token = DeviceToken(bytes: Array(name.utf8)) else { return }
            try registry.upsert([
                Device(
                    deviceID: name, platform: .apns, token: token, app: "chat", userID: "anna",
                    registeredAtMilliseconds: 1)
            ])
        }
        #expect(try await server.run("SELECT count(*) FROM apus.device", database: database) == "10")
        try await Self.fill(url, .topicsPerOwner) { registry, name in
            try registry.subscribeUser("anna", app: "chat", toTopic: name)
        }
        #expect(try await server.run("SELECT count(*) FROM apus.topic_user", database: database) == "10")
    }

    @Test("There are never more tokens for the API than the quota says, however many add some at the same moment")
    func apiTokens() async throws {
        let server = try await PrivatePostgreSQL.shared()
        let url = server.url(database: try await server.makeDatabase())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let registry = try PostgresRegistry.open(
                        url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
                    registry.quotas = RegistryQuotas(limits: [.apiTokens: 1])
                    let token = APIToken(
                        name: "\(writer)", digest: Array(repeating: UInt8(writer), count: 32), app: nil,
                        permission: .read, createdAtMilliseconds: 1)
                    for _ in 0..<200 {
                        do {
                            try registry.saveToken(token)
                            #expect(try registry.tokens() == [token])
                            #expect(try registry.removeToken(named: token.name))
                        } catch let error as RegistryError where error.code == .quotaExceeded {
                            continue
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
