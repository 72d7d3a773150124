import Essentials
public import Notifications
import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Adds or renews devices and subscribes them, all or none.
    public func register(_ registrations: [DeviceRegistration], keepsApps: Bool) throws(RegistryError) -> Int {
        for registration in registrations { try RegistryRules.check(registration) }
        return try register(registrations.map { NumberedRegistration($0) }, keepsApps: keepsApps)
    }

    /// Adds or renews devices as a plan says, in two round trips.
    @discardableResult
    func register(_ registrations: [NumberedRegistration], keepsApps: Bool = false) throws(RegistryError) -> Int {
        guard !registrations.isEmpty else { return 0 }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let plan = try plan(registrations, transaction)
            guard !keepsApps || !plan.changesApps else { throw RegistryError.deviceOfAnotherApp }
            var calls = plan.statements.map { Call($0) }
            if let limit = quotas[.devicesPerOwner] {
                calls += QuotaCalls.checkDevices("user_id", of: plan.newcomersToUsers, limit: limit)
                calls += QuotaCalls.checkDevices("identity", of: plan.newcomersToIdentities, limit: limit)
            }
            let datasets = quotas[.datasetsPerOwner]
            if !plan.learnedDatasets.isEmpty {
                calls.append(StoringCalls.addDatasets(plan.learnedDatasets, limit: datasets))
            }
            if case let list = plan.datasetSubscriptions, !list.isEmpty {
                calls.append(StoringCalls.addDatasetSubscriptions(list, limit: datasets))
            }
            if case let list = plan.topicSubscriptions, !list.isEmpty {
                calls += [
                    Call(.addTopics(plan.topics)),
                    StoringCalls.addTopicSubscriptions(list, limit: quotas[.topicsPerOwner]),
                ]
            }
            try transaction.commit(calls)
            return plan.addedCount
        }
    }

    /// Adds the names of a batch, locks the affected rows, reads the devices that it may change, and plays it through.
    private func plan(
        _ registrations: [NumberedRegistration], _ transaction: Transaction
    ) throws(RegistryError) -> RegistrationPlan {
        let devices = registrations.map(\.device)
        let apps = Self.distinct(devices.map(\.app))
        let pools = Self.distinct(devices.compactMap(\.identityPoolID))
        let identities = Self.distinct(devices.compactMap(\.identityID))
        let datasetNames = Self.distinct(registrations.flatMap(\.datasetNames))
        let countsDevices = quotas[.devicesPerOwner] != nil
        let locked = registrations.filter { countsDevices || !$0.datasetNames.isEmpty }.compactMap(\.device.identityID)
        let answers = try transaction.run([
            StoringCalls.addNames(apps, to: .app), StoringCalls.addNames(pools, to: .pool),
            StoringCalls.addNames(identities, to: .identity), StoringCalls.addNames(datasetNames, to: .datasetName),
            StoringCalls.numbers(of: apps, in: .app), StoringCalls.numbers(of: pools, in: .pool),
            StoringCalls.numbersOfLockedIdentities(identities),
            StoringCalls.lockIdentities(Self.distinct(locked)),
            // Erasing a user locks the user first, and then devices: in this order the two cannot block each other.
            Call(.lockUsers(devices.compactMap(\.userID), isShared: !countsDevices)),
            StoringCalls.lockDevices(devices), AddressCalls.hasRests,
        ])
        // The version itself takes three round trips, and is of interest to the message alone.
        if answers[10].integer(0, 0) == 0 { try requireSchema(forAddressesOf: devices) }
        let appNumbers = Self.numbers(apps, answers[4])
        let poolNumbers = Self.numbers(pools, answers[5])
        let identityNumbers = Self.numbers(identities, answers[6])
        // One may have been erased since it was found to be there.
        guard identityNumbers.count == identities.count else { throw RegistryError.conflict }
        let numbered = registrations.map { registration in
            var numbered = registration
            numbered.app = appNumbers[ByteText(registration.device.app)] ?? 0
            numbered.pool = registration.device.identityPoolID.flatMap { poolNumbers[ByteText($0)] }
            numbered.identity = registration.device.identityID.flatMap { identityNumbers[ByteText($0)] }
            return numbered
        }
        return RegistrationPlan(numbered, stored: answers[9].map { StoredDevice($0) })
    }

    /// Each text once; two that only look alike are two.
    static func distinct(_ names: [String]) -> [String] {
        var seen: Set<ByteText> = []
        return names.filter { seen.insert(ByteText($0)).inserted }
    }

    private static func numbers(_ names: [String], _ rows: Rows) -> [ByteText: Int64] {
        var numbers: [ByteText: Int64] = [:]
        for row in rows {
            let index = Int(row.integer(0)) - 1
            if names.indices.contains(index) { numbers[ByteText(names[index])] = row.integer(1) }
        }
        return numbers
    }

    // MARK: Reading

    /// The columns of `device d` and its names that `decodeDevice` reads.
    static let deviceColumns = "\(Device.readColumns), a.name, p.name, n.name"
    /// How many they are.
    static let deviceColumnCount = Device.readColumnCount + 3
    /// The joins that the names come from.
    static let deviceNames = """
        JOIN apus.app a ON a.id = d.app LEFT JOIN apus.identity_pool p ON p.id = d.identity_pool
        LEFT JOIN apus.identity n ON n.id = d.identity
        """

    /// One device, or nil.
    public func device(_ deviceID: String) throws(RegistryError) -> Device? {
        let call = Call(
            "SELECT \(Self.deviceColumns) FROM apus.device d \(Self.deviceNames) WHERE d.device_id = $1::text",
            [.text(deviceID)])
        return try devices(call).first
    }

    /// The owners of devices, and the moments of their alert tokens.
    public func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?] {
        guard !deviceIDs.isEmpty else { return [] }
        let call = Call(
            """
            SELECT n.name, d.user_id, d.registered_at FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            LEFT JOIN apus.device d ON d.device_id = r.name LEFT JOIN apus.identity n ON n.id = d.identity ORDER BY r.k
            """, [.texts(deviceIDs)])
        return try ask([call])[0].map { row in
            row.optionalInteger(2).map {
                TokenRegistration(
                    identityID: row.optionalText(0), userID: row.optionalText(1), atMilliseconds: $0)
            }
        }
    }

    /// The device of an app that has an address, or nil.
    public func device(at token: DeviceToken, platform: Platform, app: String) throws(RegistryError) -> Device? {
        let call = Call(
            """
            SELECT \(Self.deviceColumns) FROM apus.device d \(Self.deviceNames)
            WHERE d.token = $1::bytea AND d.app = (SELECT x.id FROM apus.app x WHERE x.name = $2::text)
            """, [.bytes(AddressKey(token, platform).bytes), .text(app)])
        return try devices(call).first
    }

    /// Devices in the order of their identifiers.
    public func devices(
        matching filter: DeviceFilter, after deviceID: String?, limit: Int
    ) throws(RegistryError) -> [Device] {
        try devices(Self.list(filter, after: deviceID, limit: limit))
    }

    private func devices(_ call: Call) throws(RegistryError) -> [Device] {
        try rereading { () throws(RegistryError) in
            let rows = try ask([call])[0]
            let rests = try storedAddresses(in: rows, from: 0)
            return try rows.map { (row) throws(RegistryError) in try Self.decodeDevice(row, rests) }
        }
    }

    /// How many devices there are.
    public func deviceCount() throws(RegistryError) -> Int {
        Int(try ask([Call("SELECT count(*) FROM apus.device")])[0].integer(0, 0))
    }

    private static func list(_ filter: DeviceFilter, after deviceID: String?, limit: Int) -> Call {
        var conditions = ["d.device_id > $1::text"]
        // No identifier has a NUL, so what follows one in `after` makes no difference.
        let after = String(decoding: (deviceID ?? "").utf8.prefix { $0 != 0 }, as: UTF8.self)
        var parameters: [Parameter] = [.text(after), .integer(Int64(max(limit, 0)))]
        func require(_ value: String?, _ condition: (String) -> String) {
            guard let value else { return }
            parameters.append(.text(value))
            conditions.append(condition("$\(parameters.count)::text"))
        }
        require(filter.app) { "d.app = (SELECT x.id FROM apus.app x WHERE x.name = \($0))" }
        require(filter.identityID) { "d.identity = (SELECT x.id FROM apus.identity x WHERE x.name = \($0))" }
        require(filter.userID) { "d.user_id = \($0)" }
        // The few devices of an identity or a user are found first and then sorted; all others are walked in order.
        let isNarrow = filter.identityID != nil || filter.userID != nil
        return Call(
            """
            WITH d AS \(isNarrow ? "" : "NOT ")MATERIALIZED (
                SELECT * FROM apus.device d WHERE \(conditions.joined(separator: " AND ")))
            SELECT \(deviceColumns) FROM d \(deviceNames) ORDER BY d.device_id LIMIT $2::bigint
            """, parameters)
    }

    /// Reads the columns of `deviceColumns`, and the rest of the address that belongs to the row.
    static func decodeDevice(_ row: Row, _ rests: [Int: StoredAddress]) throws(RegistryError) -> Device {
        let names = Device.readColumnCount
        return try Device(
            row, from: 0, app: row.text(names), identityPoolID: row.optionalText(names + 1),
            identityID: row.optionalText(names + 2)
        ) { () throws(RegistryError) in rests[row.number] }
    }
}
