import Dispatcher
import HTTPClient
import Webhooks
import WorkerConfiguration

/// The probes of `apus check --connect` for webhooks: a connection to each endpoint, over which nothing is sent.
enum WebhookProbes {
    /// One for each app with a webhook.
    static func all(for configuration: Configuration) -> [ConnectionProbe] {
        configuration.webhookEndpoints.map { endpoint in
            ConnectionProbe(name: "webhook \(endpoint.app)") {
                do {
                    guard let failure = try await WebhookTrial.probe(endpoint) else {
                        return .ok(
                            "connected to \(endpoint.address.origin); `apus webhooks test --app \(endpoint.app)` "
                                + "posts a sample")
                    }
                    return .failed(
                        "\(endpoint.address.origin): \(failure.description); the settings are url, ca_file and "
                            + "allow_private_addresses of [app.webhook]", .unavailable)
                } catch { return .failed("\(error)", .unavailable) }
            }
        }
    }
}
