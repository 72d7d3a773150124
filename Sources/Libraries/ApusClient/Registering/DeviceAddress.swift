public import Foundation

/// Where a push service finds an installation of the app.
public enum DeviceAddress: Hashable, Sendable {
    /// The token that Apple's system hands to `didRegisterForRemoteNotificationsWithDeviceToken`.
    ///
    /// An app that Xcode installed has a token of the sandbox.
    case apple(token: Data, isSandbox: Bool)
    /// A registration token of Firebase Cloud Messaging.
    case firebase(token: String)
    /// A registration ID of Amazon Device Messaging.
    case amazon(registrationID: String)
    /// The token from the registry's `tokens/create`, for a client that fetches its notifications.
    case fetching(token: String)

    /// The API's name of the push service.
    var platform: String {
        switch self {
        case .apple(_, let isSandbox): isSandbox ? "APNS_SANDBOX" : "APNS"
        case .firebase: "GCM"
        case .amazon: "ADM"
        case .fetching: "WEB"
        }
    }

    /// The token as the API takes it.
    var token: String {
        switch self {
        case .apple(let token, _): Self.hexadecimal(token)
        case .firebase(let token), .amazon(let token), .fetching(let token): token
        }
    }

    /// Two digits for each byte.
    static func hexadecimal(_ bytes: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// An installation of the app, as the registry is to know it.
public struct AppInstallation: Hashable, Sendable {
    /// Names the installation, 1 to 256 bytes: a random text that the app makes once and keeps.
    public var deviceID: String
    /// The app, as the registry's configuration names it; nil if the access token is for one app.
    public var app: String?
    /// Your own name of the user; nil before a user signs in.
    public var userID: String?
    /// The identity pool of Amazon Cognito; goes with `identityID`.
    public var identityPoolID: String?
    /// The identity, whose datasets the installation can subscribe to.
    public var identityID: String?
    /// Datasets to subscribe to, beside those it has; at most 1 000.
    public var datasets: [String] = []
    /// Topics to subscribe to, beside those it has; at most 1 000.
    public var topics: [String] = []

    /// Creates an installation without a user, datasets and topics.
    public init(deviceID: String, app: String? = nil) {
        self.deviceID = deviceID
        self.app = app
    }
}

/// The body of `PUT /v1/devices/{deviceId}`.
struct DeviceBody: Encodable {
    let platform: String
    let token: String
    let app: String?
    let userId: String?
    let identityPoolId: String?
    let identityId: String?
    let datasets: [String]?
    let topics: [String]?

    init(_ installation: AppInstallation, _ address: DeviceAddress) {
        platform = address.platform
        token = address.token
        app = installation.app
        userId = installation.userID
        identityPoolId = installation.identityPoolID
        identityId = installation.identityID
        datasets = installation.datasets.isEmpty ? nil : installation.datasets
        topics = installation.topics.isEmpty ? nil : installation.topics
    }
}
