import PushCore

/// The body of `RegisterDevice`: `{"Platform": "APNS", "Token": "…"}`.
struct CognitoRegistration {
    let platform: Platform
    let token: DeviceToken

    /// Reads a platform and a token as Amazon Cognito's clients send them.
    ///
    /// Apple's tokens come in hexadecimal digits; Google's are text, which is kept as its bytes.
    init(platform platformName: String?, token text: String?) throws(CognitoError) {
        guard let platformName, !platformName.isEmpty else {
            throw .invalidParameter("Platform is missing; it is APNS, APNS_SANDBOX or GCM.")
        }
        guard let text, !text.isEmpty else { throw .invalidParameter("Token is missing.") }
        guard platformName != "ADM" else {
            throw .invalidParameter("Platform ADM is not supported; it is APNS, APNS_SANDBOX or GCM.")
        }
        guard let platform = Platform(rawValue: platformName) else {
            throw .invalidParameter(
                "Platform '\(platformName.prefix(40))' is not known; it is APNS, APNS_SANDBOX or GCM.")
        }
        self.platform = platform
        switch platform {
        case .apns, .apnsSandbox:
            guard let token = DeviceToken(hexadecimal: text) else {
                throw .invalidParameter(
                    "Token is not 2 to \(2 * DeviceToken.bytesMaximum) hexadecimal digits, an even number of them.")
            }
            self.token = token
        case .gcm:
            guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
                let token = DeviceToken(bytes: Array(text.utf8))
            else {
                throw .invalidParameter(
                    "Token is not 1 to \(DeviceToken.bytesMaximum) printable characters of ASCII without blanks.")
            }
            self.token = token
        }
    }
}
