import APNsTransport
import Notifications

/// The signing keys of a worker: which app signs with what, and how that may change without a restart.
final class WorkerKeys: Sendable {
    /// Looks at the key files.
    let watcher: ProviderKeyWatcher
    private let apps: [Configuration.App]
    private let sources: [ProviderTokenSource]
    private let logger: Logger

    /// Prepares to watch the key files.
    ///
    /// - Parameters:
    ///   - apps: the apps.
    ///   - sources: the token sources of the routes, two for each app, in the order of the apps.
    ///   - logger: where changes are logged.
    /// - Throws: `APNsError` if there is no thread.
    init(apps: [Configuration.App], sources: [ProviderTokenSource], logger: Logger) throws(APNsError) {
        self.apps = apps
        self.sources = apps.indices.map { sources[2 * $0] }
        self.logger = logger
        watcher = try ProviderKeyWatcher(entries: Self.entries(apps, self.sources), logger: logger)
    }

    /// Reads all key files again, as a newer configuration names them.
    ///
    /// An app keeps its team, because connections are bound to it; apps that shared a key go on to share one.
    func reload(_ newApps: [Configuration.App]) {
        var changed = apps
        for index in changed.indices {
            guard let new = newApps.first(where: { $0.name == apps[index].name })?.apns else { continue }
            guard new.teamID == apps[index].apns.teamID else {
                refuse(apps[index].name, "its team_id has changed")
                continue
            }
            changed[index].apns.keyFile = new.keyFile
            changed[index].apns.keyID = new.keyID
        }
        for index in changed.indices {
            guard let first = sources.firstIndex(where: { $0 === sources[index] }),
                changed[first].apns.keyID != changed[index].apns.keyID
            else { continue }
            refuse(apps[index].name, "it shared its key with \(apps[first].name), and now has another")
        }
        watcher.reread(Self.entries(changed, sources))
    }

    private func refuse(_ app: String, _ reason: String) {
        logger.log(
            .warning, "worker.reload.needs-restart", [.field("app", app), .field("reason", reason)])
    }

    /// One for each source: apps with the same key share it.
    private static func entries(
        _ apps: [Configuration.App], _ sources: [ProviderTokenSource]
    ) -> [ProviderKeyWatcher.Entry] {
        var entries: [ProviderKeyWatcher.Entry] = []
        for (app, source) in zip(apps, sources) where !entries.contains(where: { $0.source === source }) {
            entries.append(.init(path: app.apns.keyFile, keyID: app.apns.keyID, source: source))
        }
        return entries
    }
}
