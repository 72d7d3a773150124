import Backoffice
import DispatchCore

/// How much an app needs a person: what the page and `apus top` show first among hundreds of apps.
enum AppTrouble: Int, Comparable {
    /// A worker says what is wrong with it.
    case failing
    /// No worker has reported it lately.
    case unknown
    /// An operator has paused it.
    case paused
    /// Pushes of it have become dead letters lately.
    case losing
    /// Pushes of it wait for another attempt.
    case retrying
    /// All is well.
    case none

    init(_ app: DeploymentStatus.App, isPaused: Bool) {
        self =
            if !app.problems.isEmpty {
                .failing
            } else if isPaused {
                .paused
            } else if app.workersCount == 0 {
                .unknown
            } else if app.recent.deadLettered > 0 {
                .losing
            } else if app.recent.requeuedForRetry > 0 {
                .retrying
            } else {
                .none
            }
    }

    static func < (left: AppTrouble, right: AppTrouble) -> Bool { left.rawValue < right.rawValue }
}

extension [DeploymentStatus.App] {
    /// The apps with the most trouble first; those with the same keep the order of their names, whatever their rates.
    func sortedByTrouble(isPaused: (String) -> Bool) -> [DeploymentStatus.App] {
        map { app in (AppTrouble(app, isPaused: isPaused(app.name)), app) }
            .sorted { left, right in (left.0, left.1.name) < (right.0, right.1.name) }.map(\.1)
    }
}
