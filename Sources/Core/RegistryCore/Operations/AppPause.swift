import Essentials

/// An operator has paused an app, or all: its pushes wait with the broker until somebody resumes it.
public struct AppPause: Hashable, Sendable {
    /// The app; nil for all.
    public var app: String?
    /// Why, for other operators; may be empty.
    public var reason: String
    /// The user who paused it.
    public var user: String
    /// When, in milliseconds since 1970.
    public var atMilliseconds: Int64

    /// Creates a pause.
    public init(app: String?, reason: String, user: String, atMilliseconds: Int64) {
        self.app = app
        self.reason = reason
        self.user = user
        self.atMilliseconds = WallTime(milliseconds: atMilliseconds).milliseconds
    }

    /// The target of a pause, for the audit log: an app, or all if it is nil.
    public static func auditTarget(of app: String?) -> String { app.map { "app \($0)" } ?? "all apps" }

    /// The longest reason, in bytes of UTF-8.
    public static let reasonBytesMaximum = 500

    /// The version of the registry's schema that brought pauses.
    public static let schemaVersion = WorkerReportRules.schemaVersion

    /// Makes sure that a pause may be kept.
    public func check() throws(RegistryError) {
        guard reason.utf8.count <= Self.reasonBytesMaximum else {
            throw RegistryError(
                .invalid,
                "The reason has \(reason.utf8.count) bytes: expected at most \(Self.reasonBytesMaximum).")
        }
        guard app != "" else { throw RegistryError(.invalid, "The name of the app is empty: expected one, or none.") }
    }

    /// The reason and who gave it, for people: `a bad release, by mei`.
    public var explanation: String { reason.isEmpty ? "by \(user)" : "\(reason), by \(user)" }
}
