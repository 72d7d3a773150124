import ChangeQueue
import Dispatcher

extension CommandInvocation {
    /// Where the configuration says that the broker is.
    ///
    /// - Parameter configuration: the whole configuration.
    /// - Returns: the part of it that a command needs to talk to the broker.
    /// - Throws: `CommandFailure` if an address is wrong.
    func broker(_ configuration: Configuration) throws(CommandFailure) -> BrokerConfiguration {
        let rabbitMQ = configuration.rabbitMQ
        do {
            return try BrokerConfiguration(
                urls: rabbitMQ.urls.map(\.revealed), caFile: rabbitMQ.caFile ?? "", namespace: rabbitMQ.namespace,
                connectionName: path.joined(separator: " "))
        } catch { throw CommandFailure(error) }
    }
}

extension CommandFailure {
    /// What the broker's failure means for whoever runs the command.
    init(_ error: ChangeQueueError) {
        let code: ExitCode =
            switch error.code {
            case .refused: .noPermission
            case .unavailable: .unavailable
            case .missing, .different, .tlsFailed, .invalid: .configuration
            }
        self.init(code, error.message)
    }
}
