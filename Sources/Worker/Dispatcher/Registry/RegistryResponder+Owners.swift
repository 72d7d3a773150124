import DispatchCore
import RegistryCore

/// The owners of found devices, for backends that want to receive them.
extension RegistryResponder {
    /// Names the owners of the devices of those questions that ask for it, with one look-up.
    ///
    /// - Parameters:
    ///   - audiences: the audiences that were found; receives the owners.
    ///   - questions: their questions.
    /// - Throws: `RegistryError` if the registry does not answer.
    func nameOwners(in audiences: inout [AudienceResult], _ questions: [AudienceQuestion]) throws(RegistryError) {
        let asked = zip(audiences.indices, questions).compactMap { $1.namesOwners ? $0 : nil }
        let deviceIDs: [String] = asked.flatMap { index -> [String] in
            switch audiences[index] {
            case .devices(let addressed): addressed.page.devices.map(\.deviceID)
            case .subscribers(let page, _): page.entries.map(\.recipient.deviceID)
            case .large, .chunkOver, .later: []
            }
        }
        guard !deviceIDs.isEmpty else { return }
        var owners = try registry.owners(of: deviceIDs)[...]
        for index in asked {
            switch audiences[index] {
            case .devices(var addressed):
                for device in addressed.page.devices.indices {
                    addressed.page.devices[device].owner = owners.popFirst() ?? nil
                }
                audiences[index] = .devices(addressed)
            case .subscribers(var page, let badges):
                for entry in page.entries.indices { page.entries[entry].recipient.owner = owners.popFirst() ?? nil }
                audiences[index] = .subscribers(page, badges: badges)
            case .large, .chunkOver, .later: break
            }
        }
    }
}
