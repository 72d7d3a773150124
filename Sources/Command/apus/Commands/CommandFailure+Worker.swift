import Dispatcher

extension CommandFailure {
    /// What kept a worker, or a part of it, from starting.
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
