import Essentials
import Notifications
import PushCore

/// Audiences that are lists of devices or tokens; a page goes on at an index of the list.
extension AudienceResolution {
    /// Finds devices by their identifiers.
    func resolveDevices(_ indices: [Int]) throws(RegistryError) {
        for index in indices {
            guard case .devices(let list, let app) = requests[index].audience else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let only = requests[index].onlyDeviceIDs.map { Set($0.map(ByteText.init)) }
            for element in FirstOccurrences<ByteText>(of: list, from: Int(position(index))) {
                if let only, !only.contains(ByteText(list[element])) { continue }
                if buffer.isFull { try fillDevices() }
                if isComplete(index) || isBeyond(Int64(element + 1), request: index) { break }
                buffer.append(request: index, element: element, name: list[element].utf8, numbers: (appNumber, 0, 0, 0))
            }
        }
        try fillDevices()
    }

    private func fillDevices() throws(RegistryError) {
        for (probe, found) in try lookUp(registry.queries.deviceOfApp) {
            guard let found, !isComplete(probe.request) else { continue }
            add(Recipient(found.device), request: probe.request, end: Int64(probe.element + 1))
        }
    }

    /// Finds devices by their tokens, and makes up devices for tokens that no device has.
    func resolveTokens(_ indices: [Int]) throws(RegistryError) {
        for index in indices {
            guard case .tokens(let list, let app) = requests[index].audience else { continue }
            let appNumber = try registry.apps.identifier(of: app) ?? Self.unknown
            let only = try requests[index].onlyDeviceIDs.map { ids throws(RegistryError) in
                try tokens(meantBy: ids, app: appNumber)
            }
            for element in FirstOccurrences(of: list, from: Int(position(index))) {
                if let only, !only.contains(list[element]) { continue }
                if buffer.isFull { try fillTokens() }
                if isComplete(index) || isBeyond(Int64(element + 1), request: index) { break }
                buffer.append(
                    request: index, element: element, name: list[element].bytes, numbers: (appNumber, 0, 0, 0))
            }
        }
        try fillTokens()
    }

    private func fillTokens() throws(RegistryError) {
        for (probe, found) in try lookUp(registry.queries.tokenOfApp) {
            guard !isComplete(probe.request), case .tokens(let list, let app) = requests[probe.request].audience
            else { continue }
            let device = found.map { Recipient($0.device) } ?? Recipient(unregistered: list[probe.element], app: app)
            add(device, request: probe.request, end: Int64(probe.element + 1))
        }
    }

    /// The tokens that identifiers of a token audience stand for: a registered device's, or the digits' own.
    private func tokens(meantBy deviceIDs: [String], app: Int64) throws(RegistryError) -> Set<DeviceToken> {
        // Tokens of requests before this one wait in the buffer.
        try fillTokens()
        var tokens = Set(deviceIDs.compactMap { DeviceToken(hexadecimal: $0) })
        func flush() throws(RegistryError) {
            for (_, found) in try lookUp(registry.queries.deviceOfApp) {
                if let found { tokens.insert(found.device.token) }
            }
        }
        for deviceID in deviceIDs {
            buffer.append(request: 0, name: deviceID.utf8, numbers: (app, 0, 0, 0))
            if buffer.isFull { try flush() }
        }
        try flush()
        return tokens
    }
}
