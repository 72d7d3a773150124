import ApusClient
import Foundation
import PushTestKit
import RegistryAPI
import TestTraits
import Testing

@Suite("The app's library: the articles' examples run", .ownThread)
struct ArticleExampleTests {
    /// Settings of which another device has changed one.
    private struct Settings: SettingsService {
        func changes(
            _ name: String, since syncCount: Int64
        ) -> (records: [RemoteRecord], syncCount: Int64, exists: Bool) {
            ([RemoteRecord(key: "theme", value: "dark", syncCount: 7)].filter { $0.syncCount > syncCount }, 7, true)
        }

        func store(_ records: [LocalRecord], in name: String) -> [RemoteRecord]? { nil }
    }

    private struct Session: AppSession {
        let token: String
        func accessToken(renewing: Bool) -> String { token }
    }

    @Test("Pushes of every kind are acted on, and an old one is not")
    func receiving() async throws {
        let settings = DatasetName(identityPoolID: "us-east-1:a", identityID: "us-east-1:b", name: "settings")
        let folder = try TemporaryFolder()
        let refreshes = Refreshes()
        let synchronizer = await ArticleExamples.synchronize(
            URL(fileURLWithPath: folder.path), backend: .init(service: Settings()),
            callbacks: .init(
                refresh: { await refreshes.note($0) }, retryLater: { _, error in Issue.record("\(error)") }),
            settings: settings)
        #expect(await refreshes.all == [["theme"]])
        var notes: [String] = []
        let dataset = ["source": "cognito-sync", "identityPoolId": "us-east-1:a", "identityId": "us-east-1:b"]
        let pushes: [[AnyHashable: Any]] = [
            ["data": dataset.merging(["datasetName": "settings", "syncCount": "7"]) { $1 }],
            ["data": dataset.merging(["datasetName": "settings", "syncCount": "8"]) { $1 }],
            ["ck": ["qry": ["dbs": 1, "fo": 1, "rid": "r", "af": ["title": "T"]] as [String: Any]]],
            ["ck": ["qry": ["dbs": 1, "fo": 3, "rid": "r"] as [String: Any]]],
            ["ck": ["fet": ["dbs": 2, "zid": "z"] as [String: Any]]],
            ["aps": ["alert": ["title": "Mei"]], "room": 7, "sender": "mei"], ["revision": "12"],
        ]
        for push in pushes {
            try await ArticleExamples.receive(push, synchronizer: synchronizer) { notes.append($0) }
        }
        #expect(await refreshes.all == [["theme"], []])
        #expect(notes == ["fetch r 1", "remove r", "fetch changes", "Mei in 7", "refresh 12"])
        ArticleExamples.problems(Data(#"{"aps":{"badge":"x"}}"#.utf8)) { notes.append($0) }
        ArticleExamples.problems(Data("{".utf8)) { notes.append($0) }
        #expect(notes.count == 7 && notes[5].hasPrefix("left out: aps.badge: found \"x\""))
    }

    private actor Refreshes {
        private(set) var all: [[String]] = []
        func note(_ keys: [String]) { all.append(keys) }
    }

    @Test("An installation is registered and subscribed")
    func registering() async throws {
        let registry = try ServedRegistry()
        defer { registry.server.stop() }
        try await ArticleExamples.register(
            server: registry.url, session: Session(token: registry.accessToken), deviceID: "d",
            deviceToken: Data([1, 2]))
        #expect(registry.shown("/v1/devices/d").body.contains(#""userId":"ben""#))
        #expect(registry.shown("/v1/apps/chat/topics").body.contains("room-7"))
        #expect(registry.shown("/v1/devices/d/subscriptions/songs").status == 200)
    }
}
