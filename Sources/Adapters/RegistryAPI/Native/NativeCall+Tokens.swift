import HTTPServer
import Notifications
import PushCore

/// The tokens that a device has beside its alert token.
extension NativeCall {
    /// `putToken`.
    func putToken() throws(NativeProblem) -> HTTPResponse {
        let kind = try tokenKind(values["kind"])
        let device = try device()
        let digits = try body(["token"]).required("token")
        let further = FurtherToken(
            deviceID: device.deviceID, kind: kind, token: try deviceToken(digits, .apns),
            registeredAtMilliseconds: context.nowMilliseconds)
        do throws(RegistryError) {
            try RegistryRules.check(further, of: device)
        } catch {
            // The token is well-formed; it is the device that cannot have it.
            throw NativeProblem(.conflict, error.message)
        }
        try using { (registry) throws(RegistryError) in try registry.saveTokens([further]) }
        return Self.done
    }

    /// `deleteToken`.
    func deleteToken() throws(NativeProblem) -> HTTPResponse {
        let kind = try tokenKind(values["kind"])
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in try registry.removeToken(kind, of: device.deviceID) }
        return Self.done
    }

    /// The member `tokens` of a device that is registered.
    func tokens(of body: NativeBody) throws(NativeProblem) -> [TokenKind: DeviceToken] {
        var tokens: [TokenKind: DeviceToken] = [:]
        for (name, digits) in try body.texts("tokens") {
            let kind = try tokenKind(name)
            tokens[kind] = try deviceToken(digits, .apns, member: "tokens.\(kind.rawValue)")
        }
        return tokens
    }

    private func tokenKind(_ name: String) throws(NativeProblem) -> TokenKind {
        guard let kind = TokenKind(rawValue: name), kind != .alert else {
            let kinds = TokenKind.further.map(\.rawValue).joined(separator: ", ")
            throw NativeProblem(
                .invalid, "\"\(name.prefix(64))\" is no kind of token beside the device's own; kinds are: \(kinds).")
        }
        return kind
    }
}
