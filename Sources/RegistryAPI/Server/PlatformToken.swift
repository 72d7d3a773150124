import PushCore

/// Device tokens as clients send them.
enum PlatformToken {
    /// Reads a token: Apple's come in hexadecimal digits; Google's are text, which is kept as its bytes.
    static func read(_ text: String, platform: Platform) throws(PlatformTokenError) -> DeviceToken {
        switch platform {
        case .apns, .apnsSandbox:
            if let token = DeviceToken(hexadecimal: text) {
                guard CourierToken.isOne(token) else { return token }
                throw PlatformTokenError(message: "it is of tokens/create, so its platform is WEB.")
            }
            throw PlatformTokenError(
                message: "it is not 2 to \(2 * DeviceToken.bytesMaximum) hexadecimal digits, an even number of them.")
        case .gcm:
            if text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let token = DeviceToken(bytes: Array(text.utf8)) {
                return token
            }
            throw PlatformTokenError(
                message: "it is not 1 to \(DeviceToken.bytesMaximum) printable characters of ASCII without blanks.")
        case .web:
            if let token = DeviceToken(hexadecimal: text), CourierToken.isOne(token) { return token }
            throw PlatformTokenError(message: "it is none that tokens/create has answered.")
        }
    }
}
