public import ChangeEvents
import Essentials

extension Audience {
    /// The entries of a target for which no device was found, each as a recipient that stands for it.
    ///
    /// A token is pushed to in any case, and a dataset often has no other device; so neither has such entries.
    ///
    /// - Parameter devices: all that were found, with their registrations. Users and identities are compared with
    ///   these; if one is missing, none counts as without a device.
    /// - Returns: a recipient for each entry, in their order.
    public func entries(withoutDeviceAmong devices: [Recipient]) -> [Recipient] {
        switch self {
        case .dataset, .tokens: return []
        case .topic(let topic, let app): return devices.isEmpty ? [Recipient(entry: topic, app: app)] : []
        case .devices(let names, let app):
            return Self.names(names, notIn: devices.map(\.deviceID)).map { Recipient(entry: $0, app: app) }
        case .identities(let names, let app):
            guard devices.allSatisfy({ $0.registration != nil }) else { return [] }
            return Self.names(names, notIn: devices.compactMap(\.registration?.identityID)).map { name in
                Recipient(entry: name, app: app, TokenRegistration(identityID: name, atMilliseconds: 0))
            }
        case .users(let names, let app):
            guard devices.allSatisfy({ $0.registration != nil }) else { return [] }
            return Self.names(names, notIn: devices.compactMap(\.registration?.userID)).map { name in
                Recipient(entry: name, app: app, TokenRegistration(userID: name, atMilliseconds: 0))
            }
        }
    }

    private static func names(_ names: [String], notIn found: [String]) -> [String] {
        let found = Set(found.map { ByteText($0) })
        return names.filter { !found.contains(ByteText($0)) }
    }
}

extension Recipient {
    fileprivate init(entry name: String, app: String, _ registration: TokenRegistration) {
        self.init(entry: name, app: app)
        self.registration = registration
    }
}
