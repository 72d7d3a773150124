internal import APNsTransport
import Notifications

extension PushError {
    init(_ error: APNsError) {
        switch error.code {
        case .keyUnreadable, .keyInvalid: self.init(.keyInvalid, error.message)
        case .identifierInvalid, .routeInvalid, .proxyInvalid: self.init(.configurationInvalid, error.message)
        case .systemFailed, .connectFailed: self.init(.systemFailed, error.message)
        }
    }

    init(_ rejection: EventRejection) { self.init(.messageInvalid, rejection.message) }
}
