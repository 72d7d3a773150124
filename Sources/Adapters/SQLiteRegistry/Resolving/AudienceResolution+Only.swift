import Essentials
import Notifications
import PushCore

/// Requests for a few devices of an audience that may be large; a page goes on at an index of `onlyDeviceIDs`.
extension AudienceResolution {
    /// Looks devices up by their identifiers and keeps those that belong to their audience.
    ///
    /// - Parameters:
    ///   - indices: requests with `onlyDeviceIDs`, all of one kind.
    ///   - isMember: tells for each answer whether its device belongs to its request's audience.
    /// - Throws: `RegistryError` if the store cannot answer.
    func resolveOnly(
        _ indices: [Int], isMember: ([(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool]
    ) throws(RegistryError) {
        func flush() throws(RegistryError) {
            let answers = try lookUp(registry.queries.device)
            for ((probe, found), belongs) in zip(answers, try isMember(answers)) {
                guard belongs, let found, !isComplete(probe.request) else { continue }
                add(Recipient(found.device), request: probe.request, end: Int64(probe.element + 1))
            }
        }
        for index in indices {
            let list = requests[index].onlyDeviceIDs ?? []
            for element in FirstOccurrences<ByteText>(of: list, from: Int(position(index))) {
                if buffer.isFull { try flush() }
                if isComplete(index) { break }
                buffer.append(request: index, element: element, name: list[element].utf8)
            }
        }
        try flush()
    }

    /// Which answers are devices of the identities or users of their request.
    func ownerMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        var owners: [Int: Set<ByteText>] = [:]
        return answers.map { probe, found in
            guard let device = found?.device else { return false }
            switch requests[probe.request].audience {
            case .identities(let identities, let app):
                let names = owners[probe.request] ?? Set(identities.map(ByteText.init))
                owners[probe.request] = names
                return device.app.hasBytes(of: app) && device.identityID.map { names.contains(ByteText($0)) } ?? false
            case .users(let users, let app):
                let names = owners[probe.request] ?? Set(users.map(ByteText.init))
                owners[probe.request] = names
                return device.app.hasBytes(of: app) && device.userID.map { names.contains(ByteText($0)) } ?? false
            default:
                return false
            }
        }
    }

    /// Which answers are devices that subscribed to the dataset of their request.
    func datasetMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        for (index, answer) in answers.enumerated() {
            guard let found = answer.found, case .dataset(let key) = requests[answer.probe.request].audience,
                found.device.identityID.hasBytes(of: key.identityID),
                found.device.identityPoolID.hasBytes(of: key.identityPoolID),
                let identity = found.stored.identity, let numbers = try numbers(key)
            else { continue }
            buffer.append(
                request: index, name: EmptyCollection(),
                numbers: (found.stored.row, identity, numbers.pool, numbers.name))
        }
        return try members(registry.queries.isDatasetSubscriber, count: answers.count)
    }

    /// Which answers are devices that subscribed to the topic of their request.
    func topicMembers(_ answers: [(probe: Probe, found: DeviceRow?)]) throws(RegistryError) -> [Bool] {
        for (index, answer) in answers.enumerated() {
            guard let found = answer.found, case .topic(let topic, let app) = requests[answer.probe.request].audience,
                found.device.app.hasBytes(of: app)
            else { continue }
            buffer.append(request: index, name: topic.utf8, numbers: (found.stored.row, found.stored.app, 0, 0))
        }
        return try members(registry.queries.isTopicSubscriber, count: answers.count)
    }

    /// Runs a query whose rows say that the probe with that `request` is a member.
    private func members(_ query: AudienceQuery, count: Int) throws(RegistryError) -> [Bool] {
        var isMember = Array(repeating: false, count: count)
        try run(query) { probe, _ in
            isMember[probe.request] = true
            return true
        }
        return isMember
    }
}
