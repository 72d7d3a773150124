import Backoffice
import ChangeEvents
import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// The counts of what became of pushes, by campaign.
extension NativeHandler {
    /// How many hours one answer covers: a month.
    private static let hoursMaximum: Int64 = 31 * 24
    /// How many campaigns one answer has at most: each is the sum of thousands of hours, and others wait meanwhile.
    private static let campaignsMaximum = 100

    /// `listCampaigns`.
    func listCampaigns() throws(NativeProblem) -> HTTPResponse {
        let limit = min(try limit(), Self.campaignsMaximum)
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
        let (from, through) = (try moment("from"), try moment("through"))
        return try using { (registry) throws(RegistryError) in
            guard let campaign = try registry.campaign(key) else {
                let name = key.name.shortened(bytesMaximum: EventLimits.campaignNameBytesMaximum)
                return NativeProblem(.notFound, "There is no campaign \"\(name)\" of the app.").response
            }
            let hours = CampaignHour.range(from: from, through: through, of: campaign)
            let shown = hours.map { $0.lowerBound...min($0.upperBound, $0.lowerBound + Self.hoursMaximum - 1) }
            let slices = try shown.map { (shown) throws(RegistryError) in
                try registry.campaignSlices(key, hours: shown)
            }
            return Self.json { writer in
                Self.write(campaign, to: &writer)
                writer.array("slices") { writer in for slice in slices ?? [] { Self.write(slice, to: &writer) } }
                guard let hours, let shown, shown.upperBound < hours.upperBound else { return }
                writer.member("next", Self.text(ofHour: shown.upperBound + 1))
            }
        }
    }

    /// A time in the query, in milliseconds since 1970, or nil.
    private func moment(_ name: String) throws(NativeProblem) -> Int64? {
        guard let text = request.query(name) else { return nil }
        guard let milliseconds = WallTime.milliseconds(text) else {
            throw NativeProblem(
                .invalid, "\(name) is a time with its zone as RFC 3339 writes it, for example 2026-11-26T11:00:00Z.")
        }
        return milliseconds
    }

    private static func text(ofHour hour: Int64) -> String {
        WallTime.text(milliseconds: CampaignHour.start(of: hour))
    }

    // MARK: JSON

    private static func write(_ campaign: CampaignSummary, to writer: inout JSONWriter) {
        writer.member("app", campaign.campaign.app)
        writer.member("campaign", campaign.campaign.name)
        writer.member("firstHour", text(ofHour: campaign.firstHour))
        writer.member("lastHour", text(ofHour: campaign.lastHour))
        write(campaign.counts, to: &writer)
    }

    private static func write(_ slice: CampaignSlice, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("hour", text(ofHour: slice.hour))
        writer.member("platform", slice.platform.rawValue)
        write(slice.counts, to: &writer)
        writer.endObject()
    }

    private static func write(_ counts: CampaignCounts, to writer: inout JSONWriter) {
        for (name, count) in counts.members { writer.member(name, count) }
    }
}

extension CampaignSummary {
    /// The position of the next page, which has smaller numbers.
    fileprivate var position: String { "\(number)" }
}
