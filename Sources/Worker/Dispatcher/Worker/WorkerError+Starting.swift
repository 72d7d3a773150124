import APNsTransport
import ChangeQueue
import PushCore
import RegistryAPI

extension WorkerError {
    /// Says what kept the worker from starting, by the kind of what was thrown.
    init(starting error: any Error) {
        switch error {
        case let error as WorkerError: self = error
        case let error as RegistryError:
            self.init(error.code == .unavailable ? .unavailable : .configuration, error.message)
        case let error as RegistryServerError:
            self.init(error.code == .unavailable ? .unavailable : .configuration, error.message)
        case let error as APNsError: self.init(.configuration, error.message)
        case let error as ChangeQueueError:
            switch error.code {
            case .refused: self.init(.refused, error.message)
            case .invalid, .different, .missing: self.init(.configuration, error.message)
            default: self.init(.unavailable, error.message)
            }
        default: self.init(.unavailable, "\(error)")
        }
    }
}
