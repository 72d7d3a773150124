import Dispatcher
import ServiceClient
import WebPushTransport
import WorkerConfiguration

/// The probes of `apus check --connect` for Web Push.
enum WebPushProbes {
    /// The key of each app that pushes to browsers, and the push services, which all apps share.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        configuration.apps.compactMap { app in app.webPush.map { key(app.name, $0) } }
            + configuration.browserServices.map { service($0, configuration) }
    }

    private static func key(_ app: String, _ webPush: Configuration.AppWebPush) -> ConnectionProbe {
        ConnectionProbe(name: "vapid \(app)") {
            do throws(ServiceError) {
                return .ok(
                    "\(webPush.keyFile) signs for \(webPush.subject); browsers have to subscribe with the "
                        + "applicationServerKey \(try webPush.checkKey())")
            } catch { return .failed(error.description, .configuration) }
        }
    }

    private static func service(_ endpoint: ServiceEndpoint, _ configuration: Configuration) -> ConnectionProbe {
        ConnectionProbe(name: "webpush \(endpoint)") {
            do throws(ServiceError) {
                guard let address = try await configuration.checkBrowserService(endpoint).http2Address else {
                    return .ok("it offers no HTTP/2; a worker sends over HTTP/1.1, at most 16 pushes at a time")
                }
                return .ok("certificate verified, HTTP/2 negotiated with \(address)")
            } catch {
                return .failed(
                    "\(error.description); the settings are trusted_hosts, ca_file and proxy of [webpush]",
                    .unavailable)
            }
        }
    }
}
