import Backoffice
import Essentials
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
        let rows = campaigns.map { summary in
            let last = WallTime.text(milliseconds: CampaignHour.start(of: summary.lastHour))
            return [summary.campaign.app, summary.campaign.name] + cells(summary.counts) + [hourText(last)]
        }
        return TextTable.lines(
            [["APP", "CAMPAIGN"] + headers + ["LAST"]] + rows, leftColumns: [0, 1, headers.count + 2])
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
        let platforms = timeline.platforms.map { [$0.platform.rawValue] + Self.cells($0.counts) }
        let most = timeline.parts.map(\.counts.accepted).max() ?? 0
        let parts = timeline.parts.map { part in
            [time(part.hour)] + Self.cells(part.counts) + [Self.bar(part.counts.accepted, of: most)]
        }
        return lines + sums + [""]
            + TextTable.lines([["PLATFORM"] + Self.headers] + platforms, leftColumns: [0]) + [""]
            + TextTable.lines(
                [[step.rawValue.uppercased()] + Self.headers + [""]] + parts,
                leftColumns: [0, Self.headers.count + 1])
    }

    private var sums: [String] {
        let counts = timeline.counts
        return TextTable.lines(
            [
                ["matched", "\(counts.matched)", ""],
                ["accepted", "\(counts.accepted)", Self.share(counts.accepted, of: counts.matched, "matched")],
                ["opened", "\(counts.opened)", Self.share(counts.opened, of: counts.accepted, "accepted")],
                ["token dead", "\(counts.tokenDead)", ""],
                ["expired", "\(counts.expired)", ""],
                ["coalesced", "\(counts.coalesced)", ""],
                ["dead letters", "\(counts.deadLettered)", ""],
            ], leftColumns: [0, 2])
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

    /// A campaign and its sums.
    static func report(_ campaign: CampaignSummary) -> Report { report(campaign, counts: campaign.counts) }

    /// The campaign with its platforms and its hours or days.
    var report: Report {
        let platforms = timeline.platforms.map {
            ["platform": $0.platform.rawValue] + Self.report($0.counts)
        }
        let slices = timeline.slices.map {
            ["at": CampaignHour.start(of: $0.hour), "platform": $0.platform.rawValue] + Self.report($0.counts)
        }
        return Self.report(campaign, counts: timeline.counts) + [
            "from": hours.map { CampaignHour.start(of: $0.lowerBound) },
            "through": hours.map { CampaignHour.end(of: $0.upperBound) },
            "platforms": platforms, "by": step.rawValue, "slices": slices,
        ]
    }

    private static func report(_ summary: CampaignSummary, counts: CampaignCounts) -> Report {
        [
            "app": summary.campaign.app, "campaign": summary.campaign.name,
            "firstAt": CampaignHour.start(of: summary.firstHour), "lastAt": CampaignHour.start(of: summary.lastHour),
        ] + report(counts)
    }

    private static func report(_ counts: CampaignCounts) -> Report {
        Report(counts.members.map { .init("\($0.name)", $0.count) })
    }
}
