import ChangeQueue
import Dispatcher
import WorkerConfiguration

extension CommandInvocation {
    /// Where the configuration says that the broker is.
    ///
    /// - Parameter configuration: the whole configuration.
    /// - Returns: the part of it that a command needs to talk to the broker.
    /// - Throws: `CommandFailure` if an address is wrong.
    func broker(_ configuration: Configuration) throws(CommandFailure) -> BrokerConfiguration {
        do {
            // Made where a worker's is made, so that no setting counts for workers alone.
            var broker = try configuration.broker(purpose: "")
            broker.connectionName = path.joined(separator: " ")
            return broker
        } catch { throw CommandFailure(error) }
    }
}

extension CommandFailure {
    /// Translates the broker's failure for the user of the command.
    init(_ error: ChangeQueueError) {
        let code: ExitCode =
            switch error.code {
            case .refused: .noPermission
            case .unavailable: .unavailable
            case .missing, .different, .tlsFailed, .invalid: .configuration
            }
        self.init(code, error.message)
    }

    /// Translates a failure to start a worker, or a part of it.
    init(_ error: WorkerError) {
        let code: ExitCode =
            switch error.code {
            case .configuration: .configuration
            case .unavailable: .unavailable
            case .refused: .noPermission
            }
        self.init(code, error.message)
    }
}
