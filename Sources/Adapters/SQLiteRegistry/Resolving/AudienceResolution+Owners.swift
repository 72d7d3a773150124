import Essentials
import PushCore

/// Audiences of devices that belong to something named: identities, users, topics.
extension AudienceResolution {
    /// Finds the subscribers of topics.
    func resolveTopics(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.topicSubscribers : registry.queries.topicSubscribers) {
            audience in
            guard case .topic(let topic, let app) = audience else { return nil }
            return ([topic], app)
        }
    }

    /// Finds the devices of identities.
    func resolveIdentities(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.identityDevices : registry.queries.identityDevices) {
            audience in
            guard case .identities(let identities, let app) = audience else { return nil }
            return (identities, app)
        }
    }

    /// Finds the devices of users.
    func resolveUsers(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, isCounting ? registry.countingQueries.userDevices : registry.queries.userDevices) {
            audience in
            guard case .users(let users, let app) = audience else { return nil }
            return (users, app)
        }
    }

    private func scan(
        _ indices: [Int], _ query: AudienceQuery,
        names: (Audience) -> (names: [String], app: String)?
    ) throws(RegistryError) {
        for index in indices {
            guard let (list, app) = names(requests[index].audience) else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let start = OwnerPosition(encoded: position(index))
            for element in FirstOccurrences<ByteText>(of: list, from: start.element) {
                if buffer.isFull { try fill(from: query) }
                if isComplete(index) { break }
                if isBeyond(OwnerPosition(element: element, row: 0).encoded, request: index) { break }
                let after = element == start.element ? start.row : 0
                buffer.append(
                    request: index, element: element, name: list[element].utf8,
                    numbers: (appNumber, after, asOfFanOut(index), 0))
            }
        }
        try fill(from: query)
    }

    private func fill(from query: AudienceQuery) throws(RegistryError) {
        try fill(from: query) { probe, row in OwnerPosition(element: probe.element, row: row).encoded }
    }
}
