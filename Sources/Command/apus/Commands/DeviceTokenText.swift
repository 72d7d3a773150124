import Essentials
import Notifications
import RegistryAPI

/// Whole tokens as commands read and write them: text where the platform's tokens are text, else hexadecimal digits.
///
/// For GCM, Apus 1.0.0 read and wrote the bytes in hexadecimal digits. Such a text is still read so, and no token is
/// lost by it: one that consists of an even number of such digits is written in digits itself.
enum DeviceTokenText {
    /// Reads a token.
    ///
    /// - Parameters:
    ///   - text: the token.
    ///   - platform: its platform.
    ///   - target: the kind of target of FCM; nil to go by the shape of the text.
    /// - Returns: the token.
    /// - Throws: `PlatformTokenError`, which never repeats the token.
    static func read(
        _ text: String, platform: Platform, target: String? = nil
    ) throws(PlatformTokenError) -> DeviceToken {
        guard platform == .gcm, let bytes = HexadecimalDigits.bytes(text) else {
            return try PlatformToken.read(text, platform: platform, target: target)
        }
        guard let token = DeviceToken(text: bytes) else {
            throw PlatformTokenError(
                "these hexadecimal digits are no text, and tokens of GCM are text; give it as Google does.")
        }
        return try PlatformToken.read(token.text(for: .gcm), platform: .gcm, target: target)
    }

    /// Writes the whole token of a device; never for a log.
    static func write(_ token: DeviceToken, platform: Platform) -> String {
        let text = token.text(for: platform)
        guard platform == .gcm else { return text }
        let isText = DeviceToken(text: token.bytes) != nil && HexadecimalDigits.bytes(text) == nil
        return isText ? text : token.hexadecimal
    }
}
