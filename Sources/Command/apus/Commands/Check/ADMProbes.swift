import ADMTransport
import Dispatcher
import ServiceClient
import WorkerConfiguration

/// The probes of `apus check --connect` for ADM.
enum ADMProbes {
    /// An access token, and the server, of each app that uses ADM.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        configuration.apps.flatMap { app in app.adm.map { [client(app.name, $0), server(app.name, $0)] } ?? [] }
    }

    private static func client(_ app: String, _ adm: Configuration.ADM) -> ConnectionProbe {
        ConnectionProbe(name: "client \(app)") {
            switch adm.credentials.fetch() {
            case .granted(_, let lifeSeconds):
                return .ok(
                    "\(adm.clientID) got an access token for \(lifeSeconds) s; only a push shows whether it may send")
            case .failed(let failure) where failure.isRefusal:
                return .failed(
                    "\(failure.reason); compare client_id and client_secret in [app.adm] with the security profile of "
                        + "the app in Amazon's developer console", .configuration)
            case .failed(let failure):
                return .failed(
                    "\(failure.reason); check token_url, ca_file and proxy in [app.adm], and that the firewall lets "
                        + "its port out", .unavailable)
            }
        }
    }

    private static func server(_ app: String, _ adm: Configuration.ADM) -> ConnectionProbe {
        ConnectionProbe(name: "adm \(app)") {
            do throws(ServiceError) {
                return .ok("certificate verified, \(try adm.checkServer()) answers")
            } catch { return .failed(error.description, error.code == .connectFailed ? .unavailable : .configuration) }
        }
    }
}
