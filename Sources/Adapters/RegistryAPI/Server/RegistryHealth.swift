import PushCore
import Synchronization

/// Whether the registry can be read and written, as it was found when it was last tried.
///
/// What can be read may still be locked or full, so that one says nothing of the other.
final class RegistryHealth: Sendable {
    private let reasons = Mutex<[RegistryContext.Purpose: String]>([:])

    /// Why not, for an operator; nil if it can.
    var failure: String? { reasons.withLock { $0[.writing] ?? $0[.reading] } }

    /// The registry could be used for this.
    func succeeded(_ purpose: RegistryContext.Purpose) { reasons.withLock { $0[purpose] = nil } }

    /// The registry could not be used for this, and no client was to blame.
    func failed(_ purpose: RegistryContext.Purpose, _ error: RegistryError) {
        reasons.withLock { $0[purpose] = error.message }
    }
}
