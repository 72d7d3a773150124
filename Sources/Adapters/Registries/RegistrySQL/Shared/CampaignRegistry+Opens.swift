import Notifications
public import RegistryCore

extension CampaignRegistry where Self: SQLStore {
    /// Counts opened pushes, each event once for a device.
    public func countOpens(
        _ opens: [CampaignOpen], nowMilliseconds: Int64
    ) throws(RegistryError) -> [CampaignOpenResult] {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting opened pushes")
        for open in opens { try open.check() }
        guard !opens.isEmpty else { return [] }
        let hour = CampaignRules.hour(ofMilliseconds: nowMilliseconds)
        return try write(durable: true) { (transaction) throws(RegistryError) in
            let candidates = try transaction.candidates(opens)
            guard !candidates.isEmpty else { return opens.map { _ in .unknownDevice } }
            var newDigests: Set<Int64> = []
            try transaction.run([.remember(candidates.flatMap(\.open.digests), hour: hour)]) { _, row in
                newDigests.insert(row.integer(0))
            }
            // The first report of an event is the one that is new.
            var fresh = candidates.filter { candidate in
                candidate.open.digests.map { newDigests.remove($0) != nil }.allSatisfy { $0 }
            }
            var added: Set<Candidate.Key> = []
            if !fresh.isEmpty {
                let numbers = try transaction.numbers(of: fresh.map(\.open.campaign), hour: hour)
                for index in fresh.indices { fresh[index].counting = numbers[fresh[index].open.campaign] }
                try transaction.run([.add(fresh, hour: hour)]) { _, row in
                    added.insert(Candidate.Key(device: row.integer(0), event: row.bytes(1)))
                }
            }
            var results = opens.map { _ in CampaignOpenResult.unknownDevice }
            for candidate in candidates { results[candidate.index] = .repeated }
            var tally = CampaignTally()
            for candidate in fresh where added.contains(candidate.key) {
                guard let campaign = candidate.counting?.campaign else { continue }
                results[candidate.index] = .counted
                tally.add(.oneOpened, to: campaign, hour: hour, candidate.platform)
            }
            try transaction.commit(SQLStatement.add(tally))
            return results
        }
    }

    /// The statements that take the opens of devices out of the counts; the opens themselves go with the devices.
    ///
    /// - Parameter condition: which devices `d`.
    /// - Returns: a statement that keeps further opens of the devices away, and one that subtracts; none if the
    ///   registry counts no opens yet.
    /// - Throws: `RegistryError` if the store cannot be read.
    func opensToSubtract(ofDevicesWhere condition: SQLStatement) throws(RegistryError) -> [SQLStatement] {
        guard try schemaState().version >= CampaignRules.schemaVersion else { return [] }
        return [
            "SELECT d.id FROM \(table: "device") d WHERE \(condition) \(postgres: "ORDER BY d.id FOR UPDATE")",
            """
            UPDATE \(table: "campaign_count") AS c
            SET opened = \(sqlite: "max", postgres: "greatest")(c.opened - s.number, 0)
            FROM (SELECT o.campaign, o.hour, o.platform, count(*) AS number
                FROM \(table: "device") d CROSS JOIN \(table: "campaign_open") o
                WHERE o.device = d.id AND \(condition) GROUP BY 1, 2, 3) s
            WHERE c.campaign = s.campaign AND c.hour = s.hour AND c.platform = s.platform
            """,
        ]
    }
}

/// A report whose device is there.
private struct Candidate {
    /// The device and the event of a report, which count once.
    struct Key: Hashable {
        let device: Int64
        let event: [UInt8]
    }

    /// Which report it is.
    let index: Int
    /// The report.
    let open: CampaignOpen
    /// The row of the device.
    let device: Int64
    /// The platform of the device.
    let platform: Platform
    /// The campaign that counts the report, and its number.
    var counting: (campaign: CampaignKey, number: Int64)?

    var key: Key { Key(device: device, event: open.event) }
}

extension SQLTransaction {
    /// The reports whose device is there, in their order, and locked so that it stays until the transaction ends.
    ///
    /// The devices are read after their locks, in a statement of its own: one that waits for a lock sees the tokens
    /// of the time before the wait.
    fileprivate func candidates(_ opens: [CampaignOpen]) throws(RegistryError) -> [Candidate] {
        var candidates: [Candidate] = []
        try run([.lockDevices(of: opens), .devices(of: opens)]) { (statement, row) throws(RegistryError) in
            guard statement == 1 else { return }
            let index = Int(row.integer(0))
            let recipient = try Recipient(row, from: 3, app: opens[index].campaign.app) { () throws(RegistryError) in
                row.optionalInteger(6).map { _ in StoredAddress(row, from: 7) }
            }
            guard recipient.token.bytes == opens[index].token.bytes || row.integer(2) != 0 else { return }
            candidates.append(
                Candidate(
                    index: index, open: opens[index], device: row.integer(1), platform: recipient.platform,
                    counting: nil))
        }
        return candidates.sorted { $0.index < $1.index }
    }

    /// The campaigns that count the opens of some, with their numbers; those that are not there are added.
    fileprivate func numbers(
        of campaigns: [CampaignKey], hour: Int64
    ) throws(RegistryError) -> [CampaignKey: (campaign: CampaignKey, number: Int64)] {
        var tally = CampaignTally()
        for campaign in campaigns { tally.addCampaign(campaign, hours: hour...hour) }
        let wanted = tally.campaigns
        var replaced: [CampaignKey: CampaignKey] = [:]
        var numbers: [CampaignKey: Int64] = [:]
        try run([.numbers(of: wanted)]) { _, row in numbers[wanted[Int(row.integer(0))]] = row.integer(1) }
        if numbers.count < wanted.count {
            var known: Set<CampaignKey> = []
            try run([.lockCampaigns, .known(wanted)]) { index, row in
                if index == 1 { known.insert(wanted[Int(row.integer(0))]) }
            }
            replaced = try keepToMaximum(&tally, known: known)
            // Their hours are noted with what counts: a report may turn out to be a repetition.
            let found = tally.campaigns
            try run([.addMissing(tally.spans), .numbers(of: found)]) { _, row in
                numbers[found[Int(row.integer(0))]] = row.integer(1)
            }
        }
        var counting: [CampaignKey: (CampaignKey, Int64)] = [:]
        for campaign in wanted {
            let name = replaced[campaign] ?? campaign
            guard let number = numbers[name] else { throw RegistryError.conflict }
            counting[campaign] = (name, number)
        }
        return counting
    }
}

extension SQLStatement {
    private static let deviceColumns: [StoredColumn<CampaignOpen>] = [
        .text("device") { $0.deviceID }, .text("app") { $0.campaign.app }, .bytes("token") { $0.token.bytes },
    ]

    /// Locks the devices of reports until the transaction ends; SQLite has one writer at a time.
    fileprivate static func lockDevices(of opens: [CampaignOpen]) -> SQLStatement {
        """
        SELECT d.id FROM \(rows: deviceColumns, of: opens) CROSS JOIN \(table: "device") d
        WHERE d.device_id = r.device \(postgres: "ORDER BY d.id FOR KEY SHARE OF d")
        """
    }

    /// The devices of reports: index, row, whether it is a further token, the columns for a push, row and rest of an
    /// address.
    fileprivate static func devices(of opens: [CampaignOpen]) -> SQLStatement {
        """
        SELECT r.k, d.id,
            EXISTS (SELECT 1 FROM \(table: "device_token") t WHERE t.device = d.id AND t.token = r.token),
            \(sql: Recipient.readColumns), x.device, \(sql: StoredAddress.readColumns)
        FROM \(rows: deviceColumns, of: opens) CROSS JOIN \(table: "device") d CROSS JOIN \(table: "app") a
        LEFT JOIN \(table: "device_address") x ON x.device = d.id
        WHERE d.device_id = r.device AND a.id = d.app AND a.name = r.app
        """
    }

    /// Finds the stored campaigns among some, and locks them until the transaction ends: index, number.
    fileprivate static func numbers(of campaigns: [CampaignKey]) -> SQLStatement {
        """
        SELECT r.k, c.number FROM \(rows: CampaignKey.columns, of: campaigns) CROSS JOIN \(table: "campaign") c
        WHERE c.app = r.app AND c.name = r.name \(postgres: "ORDER BY c.number FOR KEY SHARE OF c")
        """
    }

    /// Remembers reports beyond the registration of their devices: the digests that are new.
    fileprivate static func remember(_ digests: [Int64], hour: Int64) -> SQLStatement {
        let columns: [StoredColumn<Int64>] = [.integer("digest") { $0 }]
        let (opened, end) = (Int64(CampaignEndings.opened.rawValue), hour + CampaignRules.openMemoryHours)
        return """
            INSERT INTO \(table: "campaign_push") (digest, seen, hour)
            SELECT r.digest, \(opened), \(end) FROM \(rows: columns, of: Set(digests).sorted()) WHERE true ORDER BY r.k
            ON CONFLICT (digest) DO UPDATE SET seen = campaign_push.seen | excluded.seen,
                hour = \(sqlite: "max", postgres: "greatest")(campaign_push.hour, excluded.hour)
            WHERE campaign_push.seen & excluded.seen = 0 RETURNING digest
            """
    }

    /// Remembers reports: device and event of those that are new.
    fileprivate static func add(_ candidates: [Candidate], hour: Int64) -> SQLStatement {
        let columns: [StoredColumn<Candidate>] = [
            .integer("device") { $0.device }, .bytes("event") { $0.open.event },
            .integer("campaign") { $0.counting?.number }, .integer("platform") { $0.platform.campaignNumber },
        ]
        return """
            INSERT INTO \(table: "campaign_open") (\(sql: columns.names()), hour)
            SELECT \(sql: columns.names()), \(hour) FROM \(rows: columns, of: candidates) WHERE true
            ORDER BY r.device, r.event, r.k ON CONFLICT (device, event) DO NOTHING RETURNING device, event
            """
    }
}
