internal import HTTPClient
public import ServiceClient

/// Tries whether ADM's server can be used, without sending a message.
public enum ADMProbe {
    /// Connects, and takes any answer to a request for `/`; the calling thread waits, at most 10 seconds.
    ///
    /// - Parameters:
    ///   - endpoint: `host` or `host:port`; empty for Amazon's.
    ///   - caFile: a PEM file with certificates to trust; empty for the system's.
    ///   - proxy: the URL of the HTTP proxy to go through; empty for none.
    /// - Returns: the host and port that answered.
    /// - Throws: `ServiceError` with `routeInvalid` if the endpoint is none, or `connectFailed` with what to do.
    public static func check(
        endpoint: String, caFile: String, proxy: String
    ) throws(ServiceError) -> ServiceEndpoint {
        let endpoint = try ServiceEndpoint(endpoint, defaultHost: ADMRoute.defaultHost)
        var client = HTTPClient()
        client.caFile = caFile
        client.proxy = proxy
        do throws(HTTPClient.Failure) {
            _ = try client.get("https://\(endpoint)/")
        } catch {
            throw ServiceError(
                .connectFailed,
                "\(endpoint): \(error.description); check endpoint, ca_file and proxy in [app.adm], and that the "
                    + "firewall lets its port out")
        }
        return endpoint
    }
}
