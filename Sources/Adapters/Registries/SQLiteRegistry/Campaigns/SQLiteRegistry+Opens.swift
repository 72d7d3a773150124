import Notifications
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    // MARK: Counting

    /// Counts opened pushes, each event once for a device.
    public func countOpens(
        _ opens: [CampaignOpen], nowMilliseconds: Int64
    ) throws(RegistryError) -> [CampaignOpenResult] {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting opened pushes")
        for open in opens { try open.check() }
        guard !opens.isEmpty else { return [] }
        let hour = CampaignRules.hour(ofMilliseconds: nowMilliseconds)
        return try writing(durable: true) { () throws(RegistryError) in
            var tally = CampaignTally()
            var results: [CampaignOpenResult] = []
            var counted: [(device: Int64, open: CampaignOpen, platform: Int64)] = []
            for open in opens {
                guard let device = try openingDevice(open) else {
                    results.append(.unknownDevice)
                    continue
                }
                let isKnown = try isKnown(DeviceEvent(device: device.row, event: open.event))
                var isRemembered = false
                for digest in open.digests where try !remember(digest, hour: hour) { isRemembered = true }
                guard !isKnown, !isRemembered else {
                    results.append(.repeated)
                    continue
                }
                tally.add(.oneOpened, to: open.campaign, hour: hour, device.recipient.platform)
                counted.append((device.row, open, device.recipient.platform.campaignNumber))
                results.append(.counted)
            }
            let replaced = try keepToMaximum(&tally)
            try add(tally)
            for (device, open, platform) in counted {
                let campaign = try number(of: replaced[open.campaign] ?? open.campaign)
                try add(DeviceEvent(device: device, event: open.event), campaign, hour: hour, platform)
            }
            return results
        }
    }

    /// The device of a report, if its app and one of its tokens are as the report says.
    private func openingDevice(_ open: CampaignOpen) throws(RegistryError) -> RecipientRow? {
        let statement = try statements.statement(
            """
            SELECT d.id, \(Recipient.readColumns),
                EXISTS (SELECT 1 FROM device_token t WHERE t.device = d.id AND t.token = ?3)
            FROM device d JOIN app a ON a.id = d.app WHERE d.device_id = ?1 AND a.name = ?2
            """)
        statement.bind(1, open.deviceID)
        statement.bind(2, open.campaign.app)
        statement.bind(3, open.token.bytes)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let row = statement.integer(0)
        let recipient = try Recipient(statement, from: 1, app: open.campaign.app) { () throws(RegistryError) in
            try addressRest(of: row)
        }
        guard recipient.token.bytes == open.token.bytes || statement.integer(4) == 1 else { return nil }
        return RecipientRow(recipient: recipient, row: row)
    }

    private func isKnown(_ event: DeviceEvent) throws(RegistryError) -> Bool {
        let statement = try statements.statement("SELECT 1 FROM campaign_open WHERE device = ? AND event = ?")
        statement.bind(1, event.device)
        statement.bind(2, event.event)
        return try statement.firstInteger() != nil
    }

    /// Remembers a report beyond the registration of its device.
    ///
    /// - Returns: false if it was remembered before.
    private func remember(_ digest: Int64, hour: Int64) throws(RegistryError) -> Bool {
        let statement = try statements.statement(
            """
            INSERT INTO campaign_push (digest, seen, hour) VALUES (?1, ?2, ?3)
            ON CONFLICT (digest) DO UPDATE SET seen = seen | ?2, hour = max(hour, ?3) WHERE seen & ?2 = 0
            """)
        statement.bind(1, digest)
        statement.bind(2, Int64(CampaignEndings.opened.rawValue))
        statement.bind(3, hour + CampaignRules.openMemoryHours)
        return try statement.run() > 0
    }

    private func add(
        _ event: DeviceEvent, _ campaign: Int64?, hour: Int64, _ platform: Int64
    ) throws(RegistryError) {
        let statement = try statements.statement(
            "INSERT INTO campaign_open (device, event, campaign, hour, platform) VALUES (?, ?, ?, ?, ?)")
        statement.bind(1, event.device)
        statement.bind(2, event.event)
        statement.bind(3, campaign)
        statement.bind(4, hour)
        statement.bind(5, platform)
        try statement.run()
    }

    // MARK: Erasing

    /// Takes the opens of devices out of the counts, in a write transaction; the opens themselves go with the devices.
    ///
    /// - Parameters:
    ///   - condition: which devices `d`, with the parameters 1 and 2.
    ///   - name: the parameter 1.
    ///   - number: the parameter 2, if there is one.
    /// - Throws: `RegistryError` if the store cannot be written.
    func subtractOpens(
        ofDevicesWhere condition: String, _ name: String, _ number: Int64?
    ) throws(RegistryError) {
        guard let state = try Schema.state(connection), state.version >= CampaignRules.schemaVersion else { return }
        let selection = try statements.statement(
            """
            SELECT o.campaign, o.hour, o.platform, count(*)
            FROM device d CROSS JOIN campaign_open o ON o.device = d.id WHERE \(condition) GROUP BY 1, 2, 3
            """)
        selection.bind(1, name)
        if let number { selection.bind(2, number) }
        let update = try statements.statement(
            """
            UPDATE campaign_count SET opened = max(opened - ?4, 0)
            WHERE campaign = ?1 AND hour = ?2 AND platform = ?3
            """)
        try selection.forEachRow { row throws(RegistryError) in
            for column: Int32 in 0..<4 { update.bind(column + 1, row.integer(column)) }
            try update.run()
        }
    }
}

/// The device and the event of a report, which count once.
struct DeviceEvent: Hashable {
    /// The row of the device.
    let device: Int64
    /// The event.
    let event: [UInt8]
}
