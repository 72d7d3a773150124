public import Notifications
public import RegistryCore

/// Device tokens as clients send them.
public enum PlatformToken {
    /// The number of characters of a Firebase installation ID: 17 bytes in base64url.
    private static let installationIDCharacters = 22

    /// The kind of target that FCM takes a text for (`message.token` or `message.fid` of its HTTP v1 API).
    public enum Target: String, CaseIterable, Sendable {
        /// A registration token.
        case token
        /// An installation ID.
        case installationID = "fid"

        /// Finds out the kind of a text by its shape: an installation ID has 22 characters of base64url, a token has a
        /// colon.
        init(shapeOf text: String) {
            let isID =
                text.utf8.count == installationIDCharacters
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
            self = isID ? .installationID : .token
        }
    }

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

    /// Reads a token: of Google and Amazon it is text, which is kept as its bytes, of others hexadecimal digits.
    ///
    /// - Parameters:
    ///   - text: the token.
    ///   - platform: its platform; `WEB_PUSH` has subscriptions in place of tokens.
    ///   - targetName: the kind of target, by the name of a `Target`; nil to go by the shape of the text.
    /// - Returns: the token.
    /// - Throws: `PlatformTokenError`, which never repeats the token.
    public static func read(
        _ text: String, platform: Platform, target targetName: String? = nil
    ) throws(PlatformTokenError) -> DeviceToken {
        guard targetName == nil || platform == .gcm else {
            throw PlatformTokenError("only tokens of GCM have a target.")
        }
        switch platform.addressForm {
        case .bytes:
            guard let token = DeviceToken(hexadecimal: text) else {
                throw PlatformTokenError("it must be \(DeviceToken.requirement(brokenBy: text)).")
            }
            return token
        case .text:
            let target = platform == .gcm ? try target(targetName, of: text) : .token
            return try read(text, details: target == .installationID ? PushAddressDetails(isInstallationID: true) : nil)
        case .subscription:
            throw PlatformTokenError("WEB_PUSH has no tokens: give the subscription as toJSON() returns it.")
        }
    }

    /// Reads a token, and refuses one that the registry's servers gave out for another platform.
    static func read(
        _ text: String, platform: Platform, target: String? = nil, _ courier: CourierTokens
    ) throws(PlatformTokenError) -> DeviceToken {
        let token = try read(text, platform: platform, target: target)
        if let problem = problem(of: token, platform: platform, courier) { throw PlatformTokenError(problem) }
        return token
    }

    private static func target(_ name: String?, of text: String) throws(PlatformTokenError) -> Target {
        guard let name else { return Target(shapeOf: text) }
        guard let target = Target(rawValue: name) else {
            let names = Target.allCases.map(\.rawValue).joined(separator: " or ")
            throw PlatformTokenError("its target is \(names), not \"\(name.prefix(40))\".")
        }
        return target
    }

    private static func read(
        _ text: String, details: PushAddressDetails?
    ) throws(PlatformTokenError) -> DeviceToken {
        if let token = DeviceToken(text: Array(text.utf8), details: details) { return token }
        let size = text.utf8.count
        throw PlatformTokenError(
            (1...DeviceToken.textBytesMaximum).contains(size)
                ? "it must be printable characters of ASCII without blanks."
                : "it must be 1 to \(DeviceToken.textBytesMaximum) characters long, and it has \(size) bytes.")
    }
}

/// A device token is not as its platform writes it.
public struct PlatformTokenError: Error, Hashable, Sendable {
    /// The problem, as the end of a sentence with its full stop; never a whole token.
    public let message: String

    /// Creates an error.
    public init(_ message: String) { self.message = message }
}
