import PushCore

/// Audiences of devices that belong to something named: identities, users, topics.
extension AudienceResolution {
    /// Finds the subscribers of topics.
    func resolveTopics(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, registry.queries.topicSubscribers) { audience in
            guard case .topic(let topic, let app) = audience else { return nil }
            return ([topic], app)
        }
    }

    /// Finds the devices of identities.
    func resolveIdentities(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, registry.queries.identityDevices, namesAreIdentities: true) { audience in
            guard case .identities(let identities, let app) = audience else { return nil }
            return (identities, app)
        }
    }

    /// Finds the devices of users.
    func resolveUsers(_ indices: [Int]) throws(RegistryError) {
        try scan(indices, registry.queries.userDevices) { audience in
            guard case .users(let users, let app) = audience else { return nil }
            return (users, app)
        }
    }

    private func scan(
        _ indices: [Int], _ query: AudienceQuery, namesAreIdentities: Bool = false,
        names: (Audience) -> (names: [String], app: String)?
    ) throws(RegistryError) {
        for index in indices {
            guard let (list, app) = names(requests[index].audience) else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let start = OwnerPosition(encoded: position(index))
            for element in FirstOccurrences(of: list, from: start.element) {
                if buffer.isFull { try fill(from: query, namesAreIdentities: namesAreIdentities) }
                if isComplete(index) { break }
                let after = element == start.element ? start.row : 0
                buffer.append(
                    request: index, element: element, name: list[element].utf8, numbers: (appNumber, after, 0, 0))
            }
        }
        try fill(from: query, namesAreIdentities: namesAreIdentities)
    }

    private func fill(from query: AudienceQuery, namesAreIdentities: Bool) throws(RegistryError) {
        try run(query) { probe, row throws(RegistryError) in
            var identity: String?
            if namesAreIdentities, case .identities(let identities, _) = requests[probe.request].audience {
                identity = identities[probe.element]
            }
            let found = try registry.decodeDevice(row, firstColumn: 1, identity: identity)
            let end = OwnerPosition(element: probe.element, row: found.stored.row)
            return add(found.device, request: probe.request, end: end.encoded)
        }
    }
}
