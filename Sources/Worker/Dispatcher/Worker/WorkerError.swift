import ChangeQueue
import RegistryAPI
import RegistryCore
import Relay
import ServiceClient

/// Why a worker could not start, and what to do.
public struct WorkerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, by what the supervisor should do.
    public enum Code: Sendable {
        /// The configuration, a key or the registry's file is wrong: starting again changes nothing.
        case configuration
        /// Something outside is not there now: starting again may work.
        case unavailable
        /// The broker or the file system says no.
        case refused
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy, for people.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension WorkerError {
    /// Describes why the worker did not start, by the kind of the error.
    init(starting error: any Error) {
        switch error {
        case let error as WorkerError: self = error
        case let error as RegistryError: self.init(Self.code(error.code), error.message)
        case let error as RegistryServerError:
            self.init(error.code == .unavailable ? .unavailable : .configuration, error.message)
        case let error as OutboxError:
            self.init(error.code == .unavailable ? .unavailable : .configuration, error.message)
        case let error as ServiceError:
            self.init(
                [.systemFailed, .connectFailed].contains(error.code) ? .unavailable : .configuration, error.message)
        case let error as ChangeQueueError:
            switch error.code {
            case .refused: self.init(.refused, error.message)
            case .invalid, .different, .missing: self.init(.configuration, error.message)
            default: self.init(.unavailable, error.message)
            }
        default: self.init(.unavailable, "\(error)")
        }
    }

    /// The kind of a failure of the registry, which tells a supervisor whether to start the worker again.
    ///
    /// Rights may be granted, a disk may become writable, and tables may be restored, without a word to the worker.
    private static func code(_ code: RegistryError.Code) -> Code {
        switch code {
        case .unavailable, .readOnly, .corrupt, .failed: .unavailable
        case .newerSchema, .olderSchema, .notFound, .invalid, .quotaExceeded: .configuration
        }
    }
}
