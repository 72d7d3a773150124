import DispatchCore
import RegistryCore

/// The registrations of found devices, for backends that hear of their pushes.
extension RegistryResponder {
    /// Adds the registrations of the devices of those questions that ask for it, with one look-up.
    ///
    /// - Parameters:
    ///   - audiences: the audiences that were found; receives the registrations.
    ///   - questions: their questions.
    /// - Throws: `RegistryError` if the registry does not answer.
    func addRegistrations(
        to audiences: inout [AudienceResult], _ questions: [AudienceQuestion]
    ) throws(RegistryError) {
        let asked = zip(audiences.indices, questions).compactMap { $1.asksForRegistrations ? $0 : nil }
        let deviceIDs: [String] = asked.flatMap { index -> [String] in
            switch audiences[index] {
            case .devices(let addressed): addressed.page.devices.map(\.deviceID)
            case .subscribers(let page, _): page.entries.map(\.recipient.deviceID)
            case .large, .chunkOver, .repeated, .later: []
            }
        }
        guard !deviceIDs.isEmpty else { return }
        var found = try registry.registrations(of: deviceIDs)[...]
        for index in asked {
            switch audiences[index] {
            case .devices(var addressed):
                for device in addressed.page.devices.indices {
                    addressed.page.devices[device].add(found.popFirst() ?? nil)
                }
                audiences[index] = .devices(addressed)
            case .subscribers(var page, let badges):
                for entry in page.entries.indices { page.entries[entry].recipient.add(found.popFirst() ?? nil) }
                audiences[index] = .subscribers(page, badges: badges)
            case .large, .chunkOver, .repeated, .later: break
            }
        }
    }
}

extension Recipient {
    /// Adds the registration of its device, unless it has the moment of a further token already.
    fileprivate mutating func add(_ found: TokenRegistration?) {
        guard let found, let known = registration else {
            registration = registration ?? found
            return
        }
        registration = TokenRegistration(
            identityID: found.identityID, userID: found.userID, atMilliseconds: known.atMilliseconds)
    }
}
