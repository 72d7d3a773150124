import Notifications
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Counts opened pushes, each event once for a device.
    public func countOpens(
        _ opens: [CampaignOpen], nowMilliseconds: Int64
    ) throws(RegistryError) -> [CampaignOpenResult] {
        try requireSchema(CampaignRules.schemaVersion, for: "Counting opened pushes")
        for open in opens { try open.check() }
        guard !opens.isEmpty else { return [] }
        let hour = CampaignRules.hour(ofMilliseconds: nowMilliseconds)
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let candidates = try openingDevices(opens, transaction)
            guard !candidates.isEmpty else { return opens.map { _ in .unknownDevice } }
            var newDigests = Set(
                try transaction.run([OpenCalls.remember(candidates.flatMap(\.open.digests), hour: hour)])[0]
                    .map { $0.integer(0) })
            // The first report of an event is the one that is new.
            let fresh = candidates.filter { candidate in
                candidate.open.digests.map { newDigests.remove($0) != nil }.allSatisfy { $0 }
            }
            var numbers: [CampaignKey: (counting: CampaignKey, number: Int64)] = [:]
            var addedKeys: Set<OpenCalls.Key> = []
            if !fresh.isEmpty {
                numbers = try self.numbers(of: fresh.map(\.open.campaign), hour: hour, transaction)
                let added = try transaction.run([OpenCalls.add(fresh, numbers, hour: hour)])[0]
                addedKeys = Set(added.map { OpenCalls.Key(device: $0.integer(0), event: $0.bytes(1)) })
            }
            let freshIndexes = Set(fresh.map(\.index))
            var results = opens.map { _ in CampaignOpenResult.unknownDevice }
            var tally = CampaignTally()
            for candidate in candidates {
                let isCounted = freshIndexes.contains(candidate.index) && addedKeys.contains(candidate.key)
                results[candidate.index] = isCounted ? .counted : .repeated
                guard isCounted, let (campaign, _) = numbers[candidate.open.campaign] else { continue }
                tally.add(.oneOpened, to: campaign, hour: hour, candidate.recipient.platform)
            }
            try transaction.commit(CampaignCalls.add(tally))
            return results
        }
    }

    /// The reports whose device is there, in their order, and locked so that it stays until the transaction ends.
    private func openingDevices(
        _ opens: [CampaignOpen], _ transaction: Transaction
    ) throws(RegistryError) -> [OpenCalls.Candidate] {
        let rows = try transaction.run([OpenCalls.devices(of: opens)])[0]
        let rests = try addressRests(in: rows, from: 2)
        var candidates: [OpenCalls.Candidate] = []
        for row in rows {
            let index = Int(row.integer(0)) - 1
            let open = opens[index]
            let rest = rests[row.number]
            let recipient = try Recipient(row, from: 2, app: open.campaign.app) { () throws(RegistryError) in rest }
            guard recipient.token.bytes == open.token.bytes || row.integer(5) == 1 else { continue }
            candidates.append(
                OpenCalls.Candidate(index: index, device: row.integer(1), recipient: recipient, open: open))
        }
        return candidates.sorted { $0.index < $1.index }
    }

    /// The campaigns that count the opens of some, with their numbers; those that are not there are added.
    private func numbers(
        of campaigns: [CampaignKey], hour: Int64, _ transaction: Transaction
    ) throws(RegistryError) -> [CampaignKey: (counting: CampaignKey, number: Int64)] {
        var tally = CampaignTally()
        for campaign in campaigns { tally.addCampaign(campaign, hours: hour...hour) }
        let wanted = tally.campaigns
        var replaced: [CampaignKey: CampaignKey] = [:]
        var rows = try transaction.run([OpenCalls.numbers(of: wanted)])[0]
        if rows.count < wanted.count {
            let answers = try transaction.run([
                CampaignCalls.lock, CampaignCalls.known(wanted), CampaignCalls.counts(of: wanted),
            ])
            replaced = Self.keepToMaximum(&tally, known: answers[1], counts: answers[2])
            // Their hours are noted with what counts: a report may turn out to be a repetition.
            rows = try transaction.run([
                CampaignCalls.addMissing(tally.spans), OpenCalls.numbers(of: tally.campaigns),
            ])[1]
        }
        var numbers: [CampaignKey: Int64] = [:]
        for row in rows { numbers[CampaignKey(app: row.text(0), name: row.text(1))] = row.integer(2) }
        var found: [CampaignKey: (CampaignKey, Int64)] = [:]
        for campaign in wanted {
            let counting = replaced[campaign] ?? campaign
            guard let number = numbers[counting] else { throw Transaction.conflict }
            found[campaign] = (counting, number)
        }
        return found
    }
}

/// The statements for reports of opened pushes.
enum OpenCalls {
    /// The device and the event of a report, which count once.
    struct Key: Hashable {
        let device: Int64
        let event: [UInt8]
    }

    /// A report whose device is there.
    struct Candidate {
        /// Which report it is.
        let index: Int
        /// The row of the device.
        let device: Int64
        /// The device.
        let recipient: Recipient
        /// The report.
        let open: CampaignOpen

        var key: Key { Key(device: device, event: open.event) }
    }

    /// The devices of reports: index from 1, row, the columns for a push, whether it is a further token.
    static func devices(of opens: [CampaignOpen]) -> Call {
        Call(
            """
            SELECT r.k, d.id, \(Recipient.readColumns),
                EXISTS (SELECT FROM apus.device_token t WHERE t.device = d.id AND t.token = r.token)
            FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY r(device, app, token, k)
            JOIN apus.device d ON d.device_id = r.device JOIN apus.app a ON a.id = d.app AND a.name = r.app
            ORDER BY d.id, r.k FOR KEY SHARE OF d
            """,
            [
                .texts(opens.map(\.deviceID)), .texts(opens.map(\.campaign.app)),
                .byteLists(opens.map(\.token.bytes)),
            ])
    }

    /// Finds the stored campaigns among some, and locks them until the transaction ends: app, name, number.
    static func numbers(of campaigns: [CampaignKey]) -> Call {
        Call(
            """
            SELECT c.app, c.name, c.number FROM unnest($1::text[], $2::text[]) r(app, name)
            JOIN apus.campaign c ON c.app = r.app AND c.name = r.name ORDER BY c.number FOR KEY SHARE OF c
            """, [.texts(campaigns.map(\.app)), .texts(campaigns.map(\.name))])
    }

    /// Remembers reports beyond the registration of their devices: the digests that are new.
    static func remember(_ digests: [Int64], hour: Int64) -> Call {
        Call(
            """
            INSERT INTO apus.campaign_push (digest, seen, hour)
            SELECT r.digest, $2::bigint, $3::bigint FROM unnest($1::bigint[]) r(digest) ORDER BY r.digest
            ON CONFLICT (digest) DO UPDATE
            SET seen = campaign_push.seen | $2::bigint, hour = greatest(campaign_push.hour, $3::bigint)
            WHERE campaign_push.seen & $2::bigint = 0 RETURNING digest
            """,
            [
                .integers(Set(digests).sorted()), .integer(Int64(CampaignEndings.opened.rawValue)),
                .integer(hour + CampaignRules.openMemoryHours),
            ])
    }

    /// Remembers reports: device and event of those that are new.
    static func add(
        _ candidates: [Candidate], _ numbers: [CampaignKey: (counting: CampaignKey, number: Int64)], hour: Int64
    ) -> Call {
        Call(
            """
            INSERT INTO apus.campaign_open (device, event, campaign, hour, platform)
            SELECT r.device, r.event, r.campaign, $5::bigint, r.platform
            FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[])
                WITH ORDINALITY r(device, event, campaign, platform, k)
            ORDER BY r.device, r.event, r.k
            ON CONFLICT (device, event) DO NOTHING RETURNING device, event
            """,
            [
                .integers(candidates.map(\.device)), .byteLists(candidates.map(\.open.event)),
                .integers(candidates.map { numbers[$0.open.campaign]?.number ?? 0 }),
                .integers(candidates.map(\.recipient.platform.campaignNumber)), .integer(hour),
            ])
    }

    /// Takes the opens of devices out of the counts; the opens themselves go with the devices.
    ///
    /// - Parameters:
    ///   - condition: which devices `d`, with the parameter 1.
    ///   - name: the parameter.
    /// - Returns: a call that keeps further opens of the devices away, and one that subtracts.
    static func subtract(ofDevicesWhere condition: String, _ name: Parameter) -> [Call] {
        [
            Call("SELECT d.id FROM apus.device d WHERE \(condition) ORDER BY d.id FOR UPDATE", [name]),
            Call(
                """
                UPDATE apus.campaign_count c SET opened = greatest(c.opened - s.number, 0)
                FROM (SELECT o.campaign, o.hour, o.platform, count(*) AS number
                    FROM apus.device d JOIN apus.campaign_open o ON o.device = d.id WHERE \(condition)
                    GROUP BY 1, 2, 3) s
                WHERE c.campaign = s.campaign AND c.hour = s.hour AND c.platform = s.platform
                """, [name]),
        ]
    }
}
