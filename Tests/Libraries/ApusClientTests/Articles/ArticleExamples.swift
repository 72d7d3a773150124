import ApusClient
import Foundation

/// A session of the app with its server, for the examples.
protocol AppSession: Sendable {
    func accessToken(renewing: Bool) async throws -> String
}

/// A backend with settings, for the examples.
protocol SettingsService: Sendable {
    func changes(
        _ name: String, since syncCount: Int64
    ) async throws -> (records: [RemoteRecord], syncCount: Int64, exists: Bool)
    func store(_ records: [LocalRecord], in name: String) async throws -> [RemoteRecord]?
}

/// Every example of the documentation, so that it compiles; `ArticleTests` compares the texts.
enum ArticleExamples {
    struct ChatMessage: Decodable {
        var room: Int
        var sender: String
    }

    struct Backend: RemoteDatasetStore {
        func updates(of dataset: DatasetName, since syncCount: Int64) async throws -> DatasetUpdates {
            let changes = try await service.changes(dataset.name, since: syncCount)
            return DatasetUpdates(records: changes.records, syncCount: changes.syncCount, exists: changes.exists)
        }

        func store(
            _ records: [LocalRecord], in dataset: DatasetName, sessionToken: String?
        ) async throws -> UploadAnswer {
            guard let stored = try await service.store(records, in: dataset.name) else { return .conflict }
            return .stored(stored)
        }

        let service: any SettingsService
    }

    struct Callbacks: SyncCallbacks {
        func onSuccess(_ dataset: DatasetName, updatedRecords: [RemoteRecord]) async {
            await refresh(updatedRecords.map(\.key))
        }

        func onConflict(_ dataset: DatasetName, conflicts: [SyncConflict]) async -> [LocalRecord]? {
            conflicts.map { $0.resolvedWithLatest() }
        }

        func onDatasetDeleted(_ dataset: DatasetName) async -> Bool { true }

        func onDatasetsMerged(_ dataset: DatasetName, mergedDatasetNames: [String]) async -> Bool { false }

        func onFailure(_ dataset: DatasetName, error: SyncError) async { await retryLater(dataset, error) }

        let refresh: @Sendable ([String]) async -> Void
        let retryLater: @Sendable (DatasetName, SyncError) async -> Void
    }

    static func receive(
        _ userInfo: [AnyHashable: Any], synchronizer: DatasetSynchronizer, note: (String) -> Void
    ) async throws {
        func fetch(_ name: String, _ fields: [String: PayloadValue]) async { note("fetch \(name) \(fields.count)") }
        func remove(_ name: String) async { note("remove \(name)") }
        func fetchChanges(_ zone: String?) async { note("fetch changes") }
        func show(_ title: String, _ message: ChatMessage) async { note("\(title) in \(message.room)") }
        func refresh(_ revision: String?) async { note("refresh \(revision ?? "")") }

        let payload = try PushPayload(userInfo: userInfo)
        switch payload.event {
        case .datasetChanged, .datasetDeleted, .datasetsMerged:
            await synchronizer.handle(payload.event)
        case .recordCreated(let push), .recordUpdated(let push):
            // A pruned push was too long: some of its fields are missing.
            if let name = push.recordName { await fetch(name, push.subscription.isPruned ? [:] : push.fields) }
        case .recordDeleted(let push):
            if let name = push.recordName { await remove(name) }
        case .zoneChanged(let push), .databaseChanged(let push):
            await fetchChanges(push.zoneName)
        case .message(let shown, let data):
            await show(shown.title ?? "", try data.decoded(as: ChatMessage.self))
        case .data(let data):
            await refresh(data["revision"]?.text)
        }
    }

    static func opened(
        _ payload: PushPayload, client: RegistrationClient, deviceID: String, address: DeviceAddress
    ) async throws {
        if let receipt = payload.receipt {
            try await client.reportOpened([receipt], deviceID: deviceID, at: address)
        }
    }

    static func problems(_ json: Data, log: (String) -> Void) {
        do {
            let payload = try PushPayload(json: json)
            for problem in payload.problems { log("left out: \(problem)") }
        } catch {
            log("\(error)")
        }
    }

    static func synchronize(
        _ folder: URL, backend: Backend, callbacks: Callbacks, settings: DatasetName
    ) async -> DatasetSynchronizer {
        let counts = SyncCountStore(persistence: SyncCountFile(url: folder.appendingPathComponent("sync-counts.json")))
        let synchronizer = DatasetSynchronizer(
            remote: backend, local: MemoryDatasetStore(), counts: counts, callbacks: callbacks)
        await synchronizer.synchronize(settings)
        return synchronizer
    }

    static func register(server: URL, session: any AppSession, deviceID: String, deviceToken: Data) async throws {
        let client = RegistrationClient(url: server) { isRefused in
            // Called again, with true, when the server has refused the last one.
            try await session.accessToken(renewing: isRefused)
        }
        var installation = AppInstallation(deviceID: deviceID, app: "chat")
        installation.userID = "mei"
        installation.topics = ["news"]
        let registrar = InstallationRegistrar(client: client, installation: installation)
        try await registrar.addressChanged(to: .apple(token: deviceToken, isSandbox: false))
        try await registrar.update { $0.userID = "ben" }
        try await client.subscribe(deviceID: deviceID, toTopic: "room-7")
        var songs = RecordInterest.records(ofType: "Song", where: "artist = \"Mei Chen\" AND price <= 20")
        songs.changes = [.created]
        songs.notification.alertBody = "New: {title}"
        songs.notification.additionalFields = ["title"]
        try await client.save(songs, as: "songs", of: .device(deviceID))
        try await errors(registrar)
    }

    private static func errors(_ registrar: InstallationRegistrar) async throws {
        func retryWhenTheNetworkIsBack() async {}
        func log(_ text: String) {}

        do {
            try await registrar.register()
        } catch let error as RegistrationError where error.isTemporary {
            await retryWhenTheNetworkIsBack()
        } catch let error as RegistrationError {
            log("\(error)")
        }
    }
}
