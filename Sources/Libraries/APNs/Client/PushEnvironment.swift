internal import APNsTransport

/// Which of Apple's services to send to; how an app was signed decides for which one its tokens are good.
public enum PushEnvironment: Hashable, Sendable {
    /// Apps from the App Store, TestFlight and enterprises.
    case production
    /// Apps run from Xcode.
    case sandbox
    /// Another server in Apple's place, for example a simulator: `host:port`.
    case endpoint(String)

    var route: (environment: APNsRoute.Environment, endpoint: String) {
        switch self {
        case .production: (.production, "")
        case .sandbox: (.sandbox, "")
        case .endpoint(let endpoint): (.production, endpoint)
        }
    }
}
