import Backoffice
import Essentials
import JSON
import Notifications
import RegistryCore

/// Writes campaigns, for people and for programs.
struct CampaignReport {
    private static let barCharacters = 24
    private static let headers = ["MATCHED", "ACCEPTED", "", "OPENED", "", "DEAD", "EXPIRED", "COALESCED", "LETTERS"]

    let campaign: CampaignSummary
    /// The hours that are shown; nil if the campaign has none of those that were asked for.
    let hours: ClosedRange<Int64>?
    let timeline: CampaignTimeline
    let step: CampaignTimeline.Step

    // MARK: For people

    /// A table of campaigns, the last hour of each at the end.
    static func table(_ campaigns: [CampaignSummary]) -> [String] {
        var table = TextTable(["APP", "CAMPAIGN"] + headers + ["LAST"], leftColumns: [0, 1, headers.count + 2])
        for summary in campaigns {
            let last = WallTime.text(milliseconds: CampaignHour.start(of: summary.lastHour))
            table.add(
                [summary.campaign.app, summary.campaign.name] + cells(summary.counts) + [hourText(last)])
        }
        return table.lines
    }

    /// The campaign: its sums, its platforms, its hours or days.
    var lines: [String] {
        let (first, last) = (hours?.lowerBound ?? campaign.firstHour, hours?.upperBound ?? campaign.lastHour)
        let lines = [
            "campaign  \(campaign.campaign.name.printable())",
            "app       \(campaign.campaign.app.printable())",
            "from      \(WallTime.text(milliseconds: CampaignHour.start(of: first)))",
            "through   \(WallTime.text(milliseconds: CampaignHour.end(of: last)))", "",
        ]
        guard hours != nil else { return lines + ["Nothing was counted in the time that was asked for."] }
        guard !timeline.parts.isEmpty else { return lines + ["Nothing was counted in this time."] }
        var platforms = TextTable(["PLATFORM"] + Self.headers, leftColumns: [0])
        for share in timeline.platforms { platforms.add([share.platform.rawValue] + Self.cells(share.counts)) }
        var parts = TextTable(
            [step.rawValue.uppercased()] + Self.headers + [""], leftColumns: [0, Self.headers.count + 1])
        let most = timeline.parts.map(\.counts.accepted).max() ?? 0
        for part in timeline.parts {
            parts.add([time(part.hour)] + Self.cells(part.counts) + [Self.bar(part.counts.accepted, of: most)])
        }
        return lines + sums + [""] + platforms.lines + [""] + parts.lines
    }

    private var sums: [String] {
        let counts = timeline.counts
        var table = TextTable(["", "", ""], leftColumns: [0, 2])
        table.add(["matched", "\(counts.matched)", ""])
        table.add(["accepted", "\(counts.accepted)", Self.share(counts.accepted, of: counts.matched, "matched")])
        table.add(["opened", "\(counts.opened)", Self.share(counts.opened, of: counts.accepted, "accepted")])
        table.add(["token dead", "\(counts.tokenDead)", ""])
        table.add(["expired", "\(counts.expired)", ""])
        table.add(["coalesced", "\(counts.coalesced)", ""])
        table.add(["dead letters", "\(counts.deadLettered)", ""])
        return Array(table.lines.dropFirst())
    }

    private static func cells(_ counts: CampaignCounts) -> [String] {
        [
            "\(counts.matched)", "\(counts.accepted)", percent(counts.accepted, of: counts.matched), "\(counts.opened)",
            percent(counts.opened, of: counts.accepted), "\(counts.tokenDead)", "\(counts.expired)",
            "\(counts.coalesced)", "\(counts.deadLettered)",
        ]
    }

    private static func share(_ part: Int64, of whole: Int64, _ name: String) -> String {
        whole > 0 ? "\(percent(part, of: whole)) of \(name)" : ""
    }

    /// A part with a digit after the point, rounded down, so that what is not whole is never 100 %.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "-" }
        let tenths = (Double(part) * 1_000 / Double(whole)).rounded(.down)
        guard let tenths = Int64(exactly: tenths) else { return "-" }
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A bar, at least one character long if there is anything.
    static func bar(_ count: Int64, of most: Int64) -> String {
        guard count > 0, most > 0 else { return "" }
        let length = Int((Double(count) / Double(most) * Double(barCharacters)).rounded())
        return String(repeating: "█", count: min(max(1, length), barCharacters))
    }

    private func time(_ hour: Int64) -> String {
        let text = WallTime.text(milliseconds: CampaignHour.start(of: hour))
        return step == .day ? String(text.prefix(10)) : Self.hourText(text)
    }

    /// A time without its seconds.
    private static func hourText(_ text: String) -> String { text.prefix(16) + "Z" }

    // MARK: For programs

    /// A campaign and its sums, in one line.
    static func json(_ campaign: CampaignSummary) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        write(campaign, counts: campaign.counts, to: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The campaign with its platforms and its hours or days, in one line.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        Self.write(campaign, counts: timeline.counts, to: &writer)
        if let hours {
            writer.key("from")
            writer.integer(CampaignHour.start(of: hours.lowerBound))
            writer.key("through")
            writer.integer(CampaignHour.end(of: hours.upperBound))
        }
        writer.key("platforms")
        writer.beginArray()
        for share in timeline.platforms {
            writer.beginObject()
            writer.key("platform")
            writer.string(share.platform.rawValue)
            Self.write(share.counts, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.key("by")
        writer.string(step.rawValue)
        writer.key("slices")
        writer.beginArray()
        for slice in timeline.slices {
            writer.beginObject()
            writer.key("at")
            writer.integer(CampaignHour.start(of: slice.hour))
            writer.key("platform")
            writer.string(slice.platform.rawValue)
            Self.write(slice.counts, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func write(_ summary: CampaignSummary, counts: CampaignCounts, to writer: inout JSONWriter) {
        writer.key("app")
        writer.string(summary.campaign.app)
        writer.key("campaign")
        writer.string(summary.campaign.name)
        writer.key("firstAt")
        writer.integer(CampaignHour.start(of: summary.firstHour))
        writer.key("lastAt")
        writer.integer(CampaignHour.start(of: summary.lastHour))
        write(counts, to: &writer)
    }

    private static func write(_ counts: CampaignCounts, to writer: inout JSONWriter) {
        for (name, count) in counts.members {
            writer.key(name)
            writer.integer(count)
        }
    }
}
