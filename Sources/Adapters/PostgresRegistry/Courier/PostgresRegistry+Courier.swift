import Essentials
public import Notifications
public import PushCore

extension PostgresRegistry: CourierRegistry {
    /// Lets messages wait for their devices, all or none.
    public func deposit(_ messages: [CourierMessage], nowMilliseconds: Int64) throws(RegistryError) -> [Bool] {
        guard !messages.isEmpty else { return [] }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let rows = try transaction.run([CourierCalls.devices(of: messages, nowMilliseconds: nowMilliseconds)])[0]
            var devices: [Int64?] = Array(repeating: nil, count: messages.count)
            var noted: [DeviceToken] = []
            for row in rows {
                let index = Int(row.integer(0)) - 1
                devices[index] = row.integer(1)
                if row.integer(2) == 0 { noted.append(messages[index].token) }
            }
            let found = Self.withoutReplaced(
                zip(devices, messages).compactMap { device, message in device.map { ($0, message) } })
            try transaction.commit([
                CourierCalls.removeExpired(nowMilliseconds: nowMilliseconds),
                CourierCalls.removeReplaced(found, nowMilliseconds: nowMilliseconds), CourierCalls.add(found),
                CourierCalls.trim(Array(Set(found.map(\.device)))),
                CourierCalls.noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ])
            return devices.map { $0 != nil }
        }
    }

    /// Leaves out what a later message of the same batch takes the place of.
    private static func withoutReplaced(
        _ messages: [(device: Int64, message: CourierMessage)]
    ) -> [(device: Int64, message: CourierMessage)] {
        var collapsed: [Int64: Set<ByteText>] = [:]
        var kept: [(device: Int64, message: CourierMessage)] = []
        for (device, message) in messages.reversed() {
            if let collapseID = message.collapseID,
                !collapsed[device, default: []].insert(ByteText(collapseID)).inserted
            {
                continue
            }
            kept.append((device, message))
        }
        return kept.reversed()
    }

    /// Takes the oldest message of each of these devices.
    public func collect(_ tokens: [DeviceToken], nowMilliseconds: Int64) throws(RegistryError) -> [CourierMail] {
        guard !tokens.isEmpty else { return [] }
        let rows = try ask([CourierCalls.slots(of: tokens, nowMilliseconds: nowMilliseconds)])[0]
        var mail: [CourierMail] = Array(repeating: .unknown, count: tokens.count)
        var indexes: [Int64: Int] = [:]
        var noted: [DeviceToken] = []
        for row in rows {
            let index = Int(row.integer(0)) - 1
            mail[index] = .nothing
            if row.integer(1) < nowMilliseconds - CourierRules.askedMillisecondsPrecision {
                noted.append(tokens[index])
            }
            if let message = row.optionalInteger(2) { indexes[message] = index }
        }
        guard !indexes.isEmpty || !noted.isEmpty else { return mail }
        let taken = try writing(durable: false) { (transaction) throws(RegistryError) in
            try transaction.commit([
                CourierCalls.take(indexes.keys.sorted()),
                CourierCalls.noteAsking(noted, nowMilliseconds: nowMilliseconds),
            ])[0]
        }
        for row in taken {
            if let index = indexes[row.integer(0)] { mail[index] = .payload(row.bytes(1)) }
        }
        return mail
    }
}
