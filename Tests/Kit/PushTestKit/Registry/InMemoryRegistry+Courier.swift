public import Notifications
public import RegistryCore

extension InMemoryRegistry: CourierRegistry {
    /// Lets messages wait for their devices.
    public func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
        try check()
        return messages.map { message in
            let found = entries.values.first { entry in
                entry.device.platform == .courier && entry.device.token == message.token
                    && entry.device.app == message.app
            }
            guard var entry = found,
                entry.askedAtMilliseconds == 0
                    || max(entry.device.registeredAtMilliseconds, entry.askedAtMilliseconds)
                        >= nowMilliseconds - CourierRules.silenceMillisecondsMaximum
            else { return false }
            if entry.askedAtMilliseconds == 0 { entry.askedAtMilliseconds = nowMilliseconds }
            entry.messages.removeAll { other in
                other.expiresAtMilliseconds <= nowMilliseconds
                    || message.collapseID != nil && other.collapseID == message.collapseID
            }
            if !entry.messages.contains(where: { $0.pushID == message.pushID }) { entry.messages.append(message) }
            entry.messages = entry.messages.suffix(CourierRules.messagesPerDeviceMaximum)
            entries[entry.device.deviceID] = entry
            return true
        }
    }

    /// Takes the oldest message of each of these devices.
    public func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [MailboxResult] {
        try check()
        return tokens.map { token in
            let found = entries.values.first { $0.device.platform == .courier && $0.device.token == token }
            guard var entry = found else { return .unknown }
            entry.askedAtMilliseconds = nowMilliseconds
            entry.messages.removeAll { $0.expiresAtMilliseconds <= nowMilliseconds }
            let message = entry.messages.isEmpty ? nil : entry.messages.removeFirst()
            entries[entry.device.deviceID] = entry
            return message.map { .payload($0.payload) } ?? .nothing
        }
    }
}
