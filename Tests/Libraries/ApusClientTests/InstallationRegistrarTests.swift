import ApusClient
import Foundation
import PushTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Keeping an installation registered")
struct InstallationRegistrarTests {
    /// An API that holds requests back until the test answers them.
    private actor HeldAPI {
        private(set) var tokens: [String] = []
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var failures = 0
        private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        func receive(_ request: URLRequest) async throws -> (Data, HTTPURLResponse?) {
            let body = try JSONSerialization.jsonObject(with: request.httpBody ?? Data()) as? [String: Any]
            tokens.append(body?["token"] as? String ?? "")
            for watcher in watchers where watcher.count <= tokens.count { watcher.continuation.resume() }
            watchers.removeAll { $0.count <= tokens.count }
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            guard let url = request.url else { throw URLError(.badURL) }
            failures -= 1
            let status = failures >= 0 ? 400 : 200
            return (Data(), HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        }

        func requests(_ count: Int) async {
            guard tokens.count < count else { return }
            await withCheckedContinuation { watchers.append((count, $0)) }
        }

        func open(failing: Int = 0) {
            isOpen = true
            failures = failing
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    private static func registrar(_ api: HeldAPI) throws -> InstallationRegistrar {
        let client = RegistrationClient(
            url: try #require(URL(string: "https://push.example.com")), settings: RetrySettings(),
            accessToken: { _ in "token" }, exchange: { try await api.receive($0) }, pause: { _ in })
        return InstallationRegistrar(client: client, installation: AppInstallation(deviceID: "d"))
    }

    @Test("Nothing is registered without an address, and nothing twice")
    func once() async throws {
        let api = HeldAPI()
        await api.open()
        let registrar = try Self.registrar(api)
        try await registrar.update { $0.userID = "mei" }
        #expect(await api.tokens.isEmpty)
        #expect(await registrar.isRegistered == false)
        try await registrar.addressChanged(to: .firebase(token: "a"))
        try await registrar.addressChanged(to: .firebase(token: "a"))
        #expect(await api.tokens == ["a"])
        #expect(await registrar.isRegistered)
        try await registrar.update { $0.userID = nil }
        #expect(await api.tokens == ["a", "a"])
    }

    @Test("Of addresses that change while a request is under way only the newest is sent")
    func newestWins() async throws {
        let api = HeldAPI()
        let registrar = try Self.registrar(api)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await registrar.addressChanged(to: .firebase(token: "first")) }
            await api.requests(1)
            for number in 1...5 {
                group.addTask { try await registrar.addressChanged(to: .firebase(token: "later \(number)")) }
            }
            group.addTask { await api.open() }
            try await group.waitForAll()
        }
        let tokens = await api.tokens
        #expect(tokens.first == "first" && (2...6).contains(tokens.count))
        #expect(await registrar.isRegistered)
    }

    @Test("A failure is told, and the next call sends the same again")
    func failure() async throws {
        let api = HeldAPI()
        await api.open(failing: 1)
        let registrar = try Self.registrar(api)
        await #expect(throws: RegistrationError.self) {
            try await registrar.addressChanged(to: .firebase(token: "a"))
        }
        #expect(await registrar.isRegistered == false)
        try await registrar.register()
        #expect(await api.tokens == ["a", "a"])
        #expect(await registrar.isRegistered)
    }
}
