import Backoffice
import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// Campaigns: what became of their pushes, in all and over time.
extension PageAPI {
    private static let limitMaximum = 200
    /// The most hours in one answer, by the step that they are summed to: two weeks, and a quarter of a year.
    private static let hoursMaximum: [CampaignTimeline.Step: Int64] = [.hour: 14 * 24, .day: 92 * 24]

    /// `GET campaigns`.
    func campaigns(_ call: PageCall) async throws -> HTTPResponse {
        let app = call.text("app")
        let before = try call.number("before")
        let limit = try call.limit(50, atMost: Self.limitMaximum)
        let (campaigns, problem) = try await store.run { registry in
            (try registry.campaigns(app: app, before: before, limit: limit), try Self.schemaProblem(registry))
        }
        return PageResponse.object { writer in
            writer.array("campaigns", campaigns) { $1.write(to: &$0) }
            writer.member("next", campaigns.count == limit ? campaigns.last?.number : nil)
            writer.member("problem", problem)
        }
    }

    /// `GET campaigns/show`.
    func campaign(_ call: PageCall) async throws -> HTTPResponse {
        guard let app = call.text("app"), let name = call.text("name") else {
            throw PageProblem(.invalid, "Give app and name, which name the campaign.")
        }
        let key = CampaignKey(app: app, name: name)
        let step = try Self.step(call)
        let from = try call.number("fromMilliseconds")
        let through = try call.number("throughMilliseconds")
        let found = try await store.run { registry in
            guard let campaign = try registry.campaign(key) else {
                throw try Self.schemaProblem(registry).map { PageProblem(.notFound, $0) }
                    ?? RegistryError.noCampaign(key)
            }
            let hours = CampaignHour.range(
                from: from, through: through, of: campaign, maximum: Self.hoursMaximum[step] ?? 1)
            let slices = try hours.map { try registry.campaignSlices(key, hours: $0) } ?? []
            return (campaign: campaign, hours: hours, timeline: CampaignTimeline(slices, by: step))
        }
        return PageResponse.object { writer in
            writer.object("campaign") { found.campaign.write(to: &$0) }
            writer.member("by", step.rawValue)
            if let hours = found.hours {
                writer.member("fromMilliseconds", CampaignHour.start(of: hours.lowerBound))
                writer.member("throughMilliseconds", CampaignHour.end(of: hours.upperBound))
            }
            writer.array("platforms", found.timeline.platforms) { writer, share in
                writer.member("platform", share.platform.rawValue)
                share.counts.write(to: &writer)
            }
            writer.array("slices", found.timeline.slices) { writer, slice in
                writer.member("atMilliseconds", CampaignHour.start(of: slice.hour))
                writer.member("platform", slice.platform.rawValue)
                slice.counts.write(to: &writer)
            }
        }
    }

    /// The step that an operator has to take before anything is counted; nil if there is none.
    private static func schemaProblem(_ registry: any PageRegistry) throws(RegistryError) -> String? {
        do throws(RegistryError) {
            try registry.requireSchema(CampaignRules.schemaVersion, for: "Counting campaigns")
            return nil
        } catch  where error.code == .olderSchema {
            return error.message
        }
    }

    private static func step(_ call: PageCall) throws(PageProblem) -> CampaignTimeline.Step {
        guard let text = call.text("by") else { return .hour }
        guard let step = CampaignTimeline.Step(rawValue: text) else {
            throw PageProblem(.invalid, "by is \"\(text.shortened(bytesMaximum: 40))\": expected hour or day.")
        }
        return step
    }
}

extension CampaignSummary {
    /// Writes it as the page shows it.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("number", number)
        writer.member("app", campaign.app)
        writer.member("name", campaign.name)
        writer.member("firstMilliseconds", CampaignHour.start(of: firstHour))
        writer.member("lastMilliseconds", CampaignHour.end(of: lastHour))
        counts.write(to: &writer)
    }
}

extension CampaignCounts {
    fileprivate func write(to writer: inout JSONWriter) {
        for (name, count) in members { writer.member(name, count) }
    }
}
