import ApusClient
import ChangeEvents
import Foundation
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import StructuredLogging

@testable import RegistryAPI

/// A new registry with its API, for the app `chat`.
struct ServedRegistry {
    static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    static let identity = "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41"

    let server: RegistryServer
    let url: URL
    /// A token for the app, to write.
    let accessToken: String
    private let folder: TemporaryFolder
    private let mac: ReceiptAuthentication

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path + "/registry.db"
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        let token = BearerToken.random()
        try registry.saveToken(
            APIToken(name: "app", digest: token.digest, app: "chat", permission: .write, createdAtMilliseconds: 1))
        accessToken = token.revealed
        mac = .ofServers(with: try registry.courierKey())
        server = try RegistryServer(
            configuration: RegistryServerConfiguration(
                host: "127.0.0.1", port: 0,
                apps: [RegistryAPIApp(name: "chat", bundleID: "com.example.chat", identityPoolIDs: [Self.pool])],
                accessKeys: []), registry: registry, reader: try SQLiteRegistry.open(path: path, mode: .readOnly),
            metrics: MetricsRegistry(), logger: .silent)
        guard let url = URL(string: "http://127.0.0.1:\(server.port)") else { throw PrivateServerFailure("no address") }
        self.url = url
    }

    /// Returns the receipt in a push of a campaign of the app, from now or days ago.
    func receipt(_ number: Int, daysAgo: Int64 = 0) -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let receipt = OpenReceipt(
            campaign: CampaignKey(app: "chat", name: "spring"),
            event: EventDigest(source: "/", identifier: "\(number)"),
            hour: CampaignRules.hour(ofMilliseconds: now) - daysAgo * 24)
        return receipt.text(mac: mac) ?? ""
    }

    /// Returns the API's answer to a `GET`.
    func shown(_ path: String) -> PlainHTTP.Answer {
        PlainHTTP.request(
            "GET", path, port: server.port, fields: "Authorization: Bearer \(accessToken)\r\n")
    }
}
