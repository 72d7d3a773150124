public import Notifications
public import PushCore

/// Device tokens as clients send them.
public enum PlatformToken {
    /// Tells whether a device token is one of its platform.
    ///
    /// The tokens of `tokens/create` are of platform `WEB`, and no others are: a notification for any other could never
    /// be fetched.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - platform: the platform that it is said to be of.
    ///   - key: the key of the registry's servers, by which they recognise the tokens that they issued.
    /// - Returns: the problem, as the end of a sentence; nil if there is none.
    public static func problem(of token: DeviceToken, platform: Platform, key: CourierKey) -> String? {
        problem(of: token, platform: platform, CourierTokens(key))
    }

    private static func problem(of token: DeviceToken, platform: Platform, _ courier: CourierTokens) -> String? {
        switch (platform, courier.gaveOut(token)) {
        case (.apns, true), (.apnsSandbox, true): "it is of tokens/create, so its platform is WEB."
        case (.courier, false): "tokens/create did not return it."
        default: nil
        }
    }

    /// Reads a token: Apple's come in hexadecimal digits; Google's are text, which is kept as its bytes.
    static func read(
        _ text: String, platform: Platform, _ courier: CourierTokens
    ) throws(PlatformTokenError) -> DeviceToken {
        switch platform {
        case .apns, .apnsSandbox, .courier:
            guard let token = DeviceToken(hexadecimal: text) else {
                throw PlatformTokenError(message: "it must be \(DeviceToken.requirement(brokenBy: text)).")
            }
            if let problem = problem(of: token, platform: platform, courier) {
                throw PlatformTokenError(message: problem)
            }
            return token
        case .gcm, .adm, .webPush:
            if let token = DeviceToken(text: Array(text.utf8)) { return token }
            let size = text.utf8.count
            throw PlatformTokenError(
                message: (1...DeviceToken.textBytesMaximum).contains(size)
                    ? "it must be printable characters of ASCII without blanks."
                    : "it must be 1 to \(DeviceToken.textBytesMaximum) characters long, and it has \(size) bytes.")
        }
    }
}

/// A device token is not as its platform writes it.
struct PlatformTokenError: Error {
    let message: String
}
