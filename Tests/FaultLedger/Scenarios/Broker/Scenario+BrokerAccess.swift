import Glibc
import PushTestKit

extension Scenario {
    private static let user = "worker"

    /// The workers may no longer use their queues, and then again.
    static let brokerPermissionRevoked = Scenario(
        name: "broker-permission-revoked", domain: .broker,
        sentence: "the workers' user loses its permissions and its connections, and gets the permissions again",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2, prepare: makeUser
    ) { stage in
        let broker = try stage.broker
        try await broker.control("clear_permissions", user)
        try await broker.control("close_all_user_connections", user, "revoked")
        try await Pause.seconds(stage.draw(3...5))
        try await broker.control("set_permissions", user, ".*", ".*", ".*")
        try await stage.waitUntilReady()
    }

    /// The workers' password is changed; an operator writes the new one into the configuration and starts them anew.
    static let brokerPasswordChanged = Scenario(
        name: "broker-password-changed", domain: .broker,
        sentence:
            "the workers' password is changed and their connections are closed; they are configured and started anew",
        setting: Setting(isBrokerPrivate: true), redeliveries: 4, prepare: makeUser
    ) { stage in
        let broker = try stage.broker
        try await broker.control("change_password", user, "another")
        try await broker.control("close_all_user_connections", user, "changed")
        try await Pause.seconds(stage.draw(2...4))
        stage.addresses.brokerURLs = ["amqp://\(user):another@127.0.0.1:\(broker.port)/"]
        try stage.writeConfiguration()
        for worker in stage.workers { try await worker.endBySignal(SIGTERM) }
        try await stage.waitUntilReady()
    }

    private static func makeUser(_ stage: Stage) async throws {
        let broker = try stage.broker
        try await broker.control("add_user", user, "secret")
        try await broker.control("set_permissions", user, ".*", ".*", ".*")
        stage.addresses.brokerURLs = ["amqp://\(user):secret@127.0.0.1:\(broker.port)/"]
    }
}
