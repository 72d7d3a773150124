import PushCore
import Synchronization

/// Whether the registry can be used, as it was found when it was last asked.
final class RegistryHealth: Sendable {
    private let reason = Mutex<String?>(nil)

    /// Why not, for an operator; nil if it can.
    var failure: String? { reason.withLock { $0 } }

    /// The registry did what it was asked.
    func succeeded() { reason.withLock { $0 = nil } }

    /// The registry could not do what it was asked, and the client was not to blame.
    func failed(_ error: RegistryError) { reason.withLock { $0 = error.message } }
}
