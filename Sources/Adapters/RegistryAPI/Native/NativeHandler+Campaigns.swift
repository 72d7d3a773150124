import Essentials
import HTTPServer
import JSON
import Notifications
import PushCore

/// The counts of what became of pushes, by campaign.
extension NativeHandler {
    /// How many hours one answer covers: a month.
    private static let hoursMaximum: Int64 = 31 * 24
    private static let hourMilliseconds: Int64 = 3_600_000

    /// `listCampaigns`.
    func listCampaigns() throws(NativeProblem) -> HTTPResponse {
        let limit = try limit()
        var app = token.app
        if let name = request.query("app") { app = try requireApp(name).name }
        var last: Int64?
        if let text = request.query("before") {
            guard let number = Int64(digits: text) else {
                throw NativeProblem(.invalid, "before is not what 'next' of a page says.")
            }
            last = number
        }
        // One more tells whether there is another page.
        let found = try using { [app, last] (registry) throws(RegistryError) in
            try registry.campaigns(app: app, before: last, limit: limit + 1)
        }
        return Self.page("campaigns", found, limit: limit, next: \.position) { campaign, writer in
            writer.beginObject()
            Self.write(campaign, to: &writer)
            writer.endObject()
        }
    }

    /// `getCampaign`.
    func getCampaign() throws(NativeProblem) -> HTTPResponse {
        let key = CampaignKey(app: try requireApp(values["app"]).name, name: values["campaign"])
        let (from, through) = (try hour("from"), try hour("through"))
        return try using { (registry) throws(RegistryError) in
            guard let campaign = try registry.campaign(key) else {
                return NativeProblem(.notFound, "There is no campaign \"\(key.name.prefix(256))\" of the app.").response
            }
            let first = max(from ?? 0, campaign.firstHour)
            let last = min(through ?? .max, campaign.lastHour)
            let end = min(last, first + Self.hoursMaximum - 1)
            let slices = first <= end ? try registry.campaignSlices(key, hours: first...end) : []
            return Self.json { writer in
                Self.write(campaign, to: &writer)
                writer.key("slices")
                writer.beginArray()
                for slice in slices { Self.write(slice, to: &writer) }
                writer.endArray()
                guard end < last, first <= end else { return }
                writer.key("next")
                writer.string(Self.text(ofHour: end + 1))
            }
        }
    }

    /// The hour of a time in the query, or nil.
    private func hour(_ name: String) throws(NativeProblem) -> Int64? {
        guard let text = request.query(name) else { return nil }
        guard let milliseconds = WallTime.milliseconds(text) else {
            throw NativeProblem(
                .invalid, "\(name) is a time with its zone as RFC 3339 writes it, for example 2026-11-26T11:00:00Z.")
        }
        return CampaignRules.hour(ofMilliseconds: milliseconds)
    }

    private static func text(ofHour hour: Int64) -> String {
        WallTime.text(milliseconds: WallTime(seconds: hour * (hourMilliseconds / 1_000)).milliseconds)
    }

    // MARK: JSON

    private static func write(_ campaign: CampaignSummary, to writer: inout JSONWriter) {
        writer.key("app")
        writer.string(campaign.campaign.app)
        writer.key("campaign")
        writer.string(campaign.campaign.name)
        writer.key("firstHour")
        writer.string(text(ofHour: campaign.firstHour))
        writer.key("lastHour")
        writer.string(text(ofHour: campaign.lastHour))
        write(campaign.counts, to: &writer)
    }

    private static func write(_ slice: CampaignSlice, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("hour")
        writer.string(text(ofHour: slice.hour))
        writer.key("platform")
        writer.string(slice.platform.rawValue)
        write(slice.counts, to: &writer)
        writer.endObject()
    }

    private static func write(_ counts: CampaignCounts, to writer: inout JSONWriter) {
        let members: [(StaticString, Int64)] = [
            ("matched", counts.matched), ("accepted", counts.accepted), ("tokenDead", counts.tokenDead),
            ("expired", counts.expired), ("coalesced", counts.coalesced), ("deadLettered", counts.deadLettered),
            ("opened", counts.opened),
        ]
        for (name, count) in members {
            writer.key(name)
            writer.integer(count)
        }
    }
}

extension CampaignSummary {
    /// What the next page goes on before.
    fileprivate var position: String { "\(number)" }
}
