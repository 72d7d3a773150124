import Dispatcher
import FCMTransport
import ServiceClient
import WorkerConfiguration

/// The probes of `apus check --connect` for FCM.
enum FCMProbes {
    /// An access token, and the server, of each app that uses FCM.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        configuration.apps.flatMap { app in
            app.fcm.map { [account(app.name, $0), server(configuration, app.name)] } ?? []
        }
    }

    private static func account(_ app: String, _ fcm: Configuration.FCM) -> ConnectionProbe {
        ConnectionProbe(name: "account \(app)") {
            do throws(ServiceError) {
                let account = try fcm.credentials.account()
                switch fcm.credentials.fetch() {
                case .granted(_, let lifeSeconds):
                    return .ok(
                        "\(account.email) got an access token for \(lifeSeconds) s; only a push shows whether it may "
                            + "send")
                case .failed(let failure):
                    return .failed(failure.reason, failure.isRefusal ? .configuration : .unavailable)
                }
            } catch { return .failed(error.description, .configuration) }
        }
    }

    private static func server(_ configuration: Configuration, _ app: String) -> ConnectionProbe {
        ConnectionProbe(name: "fcm \(app)") {
            do throws(ServiceError) {
                let address = try await configuration.checkFCM(app: app)
                return .ok("certificate verified, HTTP/2 negotiated with \(address)")
            } catch { return .failed(error.description, .unavailable) }
        }
    }
}
