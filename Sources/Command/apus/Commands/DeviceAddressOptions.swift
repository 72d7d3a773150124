import EventLoop
import JSON
import Notifications
import RegistryAPI

/// The options that say where a device is reached: its platform, and a token or the subscription of a browser.
enum DeviceAddressOptions {
    static let token = CommandOption.value(
        "token", "TOKEN", "The device token: for GCM and ADM the text, else hexadecimal digits.")
    static let platform = CommandOption.value(
        "platform", "PLATFORM", "\(platforms). Default: APNS, or WEB_PUSH for a subscription.")
    static let target = CommandOption.value(
        "target", "TARGET", "What Google takes the token for, token or fid. Default: what it looks like.")
    static let subscription = CommandOption.value(
        "subscription", "FILE", "The JSON of a browser's PushSubscription; '-' for standard input.")
    static let endpoint = CommandOption.value(
        "endpoint", "URL", "The browser's endpoint, with --p256dh and --auth in place of --subscription.")
    static let p256dh = CommandOption.value("p256dh", "BASE64URL", "The browser's public key, 65 bytes.")
    static let auth = CommandOption.value("auth", "BASE64URL", "The browser's authentication secret, 16 bytes.")
    static let expires = CommandOption.value(
        "expires", "MILLISECONDS", "When the browser's subscription ends, since 1970. Default: never.")

    /// All of them.
    static let all = [platform, token, target, subscription, endpoint, p256dh, auth, expires]

    private static let ofSubscriptions = [subscription, endpoint, p256dh, auth, expires]

    private static var platforms: String {
        let names = Platform.allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
    }

    /// Reads platform and address.
    ///
    /// - Parameter invocation: the use of a command that has all of the options.
    /// - Returns: the platform and the address.
    /// - Throws: `CommandFailure` that says which option is wrong; it never repeats a token.
    static func address(_ invocation: CommandInvocation) throws -> (platform: Platform, token: DeviceToken) {
        let isOfBrowser = invocation.has(subscription) || invocation.has(endpoint)
        let name = invocation.string(platform) ?? (isOfBrowser ? Platform.webPush : .apns).rawValue
        guard let platform = Platform(rawValue: name) else {
            throw CommandFailure.usage("--platform takes one of \(platforms), not '\(name)'")
        }
        let others = platform == .webPush ? [token, target] : ofSubscriptions
        if let other = others.first(where: { invocation.has($0) }) {
            let meant = platform == .webPush ? "--subscription, or --endpoint, --p256dh and --auth" : "--token"
            throw CommandFailure.usage("--\(other.name) is not for \(name), which takes \(meant)")
        }
        if platform == .webPush { return (platform, try subscriptionAddress(invocation)) }
        let text = try invocation.required(token)
        return (
            platform,
            try naming("--token is invalid") { () throws(PlatformTokenError) in
                try DeviceTokenText.read(text, platform: platform, target: invocation.string(target))
            }
        )
    }

    private static func subscriptionAddress(_ invocation: CommandInvocation) throws -> DeviceToken {
        guard let path = invocation.string(subscription) else {
            let parts = PushSubscription(
                endpoint: try invocation.required(endpoint),
                expirationTime: try invocation.integer(expires, in: 0...Int.max).map(Int64.init),
                p256dh: try invocation.required(p256dh), auth: try invocation.required(auth))
            return try naming("the subscription is invalid") { () throws(PlatformTokenError) in
                try parts.token(nowMilliseconds: WallClock.nowMilliseconds())
            }
        }
        if let other = ofSubscriptions.dropFirst().first(where: { invocation.has($0) }) {
            throw CommandFailure.usage("--subscription has all parts: leave out --\(other.name)")
        }
        let bytes = try LineReader.withFile(path) { reader in
            var bytes: [UInt8] = []
            while case .bytes(let line)? = try reader.next(), bytes.count < LineReader.lineBytesMaximum {
                bytes += line + [UInt8(ascii: "\n")]
            }
            return bytes
        }
        let parser = JSONParser(depthMaximum: 8, bytesMaximum: max(bytes.count, 1))
        let value: JSONValue
        do throws(JSONError) {
            value = try parser.parse(bytes)
        } catch {
            throw CommandFailure(.data, "\(path) is not JSON: \(error)")
        }
        return try naming("\(path) is no subscription") { () throws(PlatformTokenError) in
            try PushSubscription(value).token(nowMilliseconds: WallClock.nowMilliseconds())
        }
    }

    private static func naming<Value>(
        _ problem: String, _ body: () throws(PlatformTokenError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(PlatformTokenError) {
            return try body()
        } catch {
            throw .usage("\(problem): \(error.message)")
        }
    }
}
