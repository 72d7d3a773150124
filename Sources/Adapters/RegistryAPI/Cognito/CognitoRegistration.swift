import Notifications

/// The body of `RegisterDevice`: `{"Platform": "APNS", "Token": "…"}`.
struct CognitoRegistration {
    let platform: Platform
    let token: DeviceToken

    /// Reads a platform and a token as Amazon Cognito's clients send them.
    init(
        platform platformName: String?, token text: String?, _ courier: CourierTokens
    ) throws(CognitoError) {
        guard let platformName, !platformName.isEmpty else {
            throw .invalidParameter("Platform is missing; it is APNS, APNS_SANDBOX or GCM.")
        }
        guard let text, !text.isEmpty else { throw .invalidParameter("Token is missing.") }
        guard platformName != "ADM" else {
            throw .invalidParameter("Platform ADM is not supported; it is APNS, APNS_SANDBOX or GCM.")
        }
        guard let platform = Platform(rawValue: platformName), platform != .web else {
            throw .invalidParameter(
                "Platform '\(platformName.prefix(40))' is not known; it is APNS, APNS_SANDBOX or GCM.")
        }
        self.platform = platform
        do throws(PlatformTokenError) {
            token = try PlatformToken.read(text, platform: platform, courier)
        } catch {
            throw .invalidParameter("Token is invalid: \(error.message)")
        }
    }
}
