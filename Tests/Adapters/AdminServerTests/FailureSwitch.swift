import Synchronization

/// What a check of a test reports, changed while the server runs.
final class FailureSwitch: Sendable {
    private let storage = Mutex<String?>(nil)

    var reason: String? {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }
}
