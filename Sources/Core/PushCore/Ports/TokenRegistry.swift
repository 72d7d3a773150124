public import Notifications

/// The part of a registry that keeps what tokens a device has beside its alert token, at most one of each kind.
///
/// Such a token goes with its device, and ends when the device changes its app or goes over to a platform that is not
/// Apple's. Whatever else is renewed leaves it alone.
public protocol TokenRegistry: AnyObject {
    /// Gives devices tokens, all or none; the last of equal ones wins.
    ///
    /// A token belongs to one installation of an app: another device of the app that has it as this kind loses it.
    ///
    /// - Throws: `RegistryError` with `.notFound` if there is no such device, `.invalid` if the kind is `alert`, the
    ///   device's platform is not Apple's, or the token is the device's alert token.
    func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError)

    /// Takes a token from a device; the answer is false if it had none of that kind.
    func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool

    /// The tokens of each of these devices, sorted by kind; none for a device that is not there.
    func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]]

    /// What these tokens are registered as in an app, alert tokens included, in no particular order.
    func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken]

    /// Whether any device of an app has a token of a kind, which is not `alert`.
    func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool
}
