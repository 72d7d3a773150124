public import Foundation

/// Keeps sync counts from one start of the app to the next.
public protocol SyncCountPersistence: Sendable {
    /// Loads what was saved last.
    ///
    /// - Returns: the counts; nil if there are none or they are broken: then each dataset is synchronised once more.
    /// - Throws: an error if they could perhaps be read later.
    func loadSyncCounts() async throws -> SyncCounts?

    /// Saves counts in place of those saved before.
    ///
    /// - Parameter counts: the counts.
    /// - Throws: an error if they are not saved.
    func saveSyncCounts(_ counts: SyncCounts) async throws
}

/// The sync counts of the running app, loaded once, and saved in the order of their changes.
public actor SyncCountStore {
    private let persistence: any SyncCountPersistence
    private var counts: SyncCounts?
    private var lastSave: Task<Void, any Error>?

    /// Creates a store that loads the counts when they are needed.
    public init(persistence: any SyncCountPersistence) { self.persistence = persistence }

    /// The dataset to synchronise after a push; nil if there is nothing to do (`SyncCounts`).
    ///
    /// - Throws: the persistence's error.
    public func datasetToSynchronize(after event: PushEvent) async throws -> DatasetName? {
        try await loaded().datasetToSynchronize(after: event)
    }

    /// The count up to which a dataset is synchronised; nil if it never was.
    ///
    /// - Throws: the persistence's error.
    public func syncCount(of dataset: DatasetName) async throws -> Int64? { try await loaded()[dataset] }

    /// Notes up to which count a dataset is synchronised, and saves it.
    ///
    /// - Throws: the persistence's error. The count is noted all the same.
    public func synchronized(_ dataset: DatasetName, to syncCount: Int64) async throws {
        try await change { $0.synchronized(dataset, to: syncCount) }
    }

    /// Forgets a dataset, and saves that.
    ///
    /// - Throws: the persistence's error. The dataset is forgotten all the same.
    public func forget(_ dataset: DatasetName) async throws { try await change { $0.forget(dataset) } }

    /// Forgets all datasets of other identities, and saves that.
    ///
    /// - Throws: the persistence's error. They are forgotten all the same.
    public func keepOnly(identityID: String) async throws { try await change { $0.keepOnly(identityID: identityID) } }

    private func loaded() async throws -> SyncCounts {
        if let counts { return counts }
        let found = try await persistence.loadSyncCounts() ?? SyncCounts()
        // Another call may have loaded, and changed them, meanwhile.
        if let counts { return counts }
        counts = found
        return found
    }

    private func change(_ body: (inout SyncCounts) -> Void) async throws {
        _ = try await loaded()
        var changed = counts ?? SyncCounts()
        body(&changed)
        guard changed != counts else { return }
        counts = changed
        let previous = lastSave
        let save = Task { [persistence, changed] in
            // Of two saves at once the older could end last.
            _ = await previous?.result
            try await persistence.saveSyncCounts(changed)
        }
        lastSave = save
        try await save.value
    }
}

/// Sync counts in a file, as JSON.
public struct SyncCountFile: SyncCountPersistence {
    private let url: URL

    /// Names the file, which is made when counts are saved.
    public init(url: URL) { self.url = url }

    /// Loads the counts; a file that is not there or broken has none.
    ///
    /// - Throws: an error of the file system, for example while the device is locked.
    public func loadSyncCounts() async throws -> SyncCounts? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let json = try Data(contentsOf: url)
        return try? JSONDecoder().decode(SyncCounts.self, from: json)
    }

    /// Replaces the file as a whole, so that a crash leaves the old one or the new one.
    ///
    /// - Throws: an error of the file system.
    public func saveSyncCounts(_ counts: SyncCounts) async throws {
        try JSONEncoder().encode(counts).write(to: url, options: .atomic)
    }
}
