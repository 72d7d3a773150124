import Backoffice
import RegistryCore

/// The group `apus campaign`.
enum CampaignCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "campaign",
        summary: "Count what became of pushes, by campaign, platform and hour",
        discussion: """
            'apus analytics' counts pushes by campaign. An event push.requested names its campaign
            in data.campaign. Pushes of other events are counted by what asked for them:
            'dataset:NAME' for a dataset, 'subscription:ID' for a record subscription.

            Counts are in the registry, so they are those of all workers together. They name
            nobody. Apps report which pushes were opened.
            """,
        nodes: [
            .command(CampaignListCommand()),
            .command(CampaignShowCommand()),
        ]
    )

    /// Opens the registry that the configuration names and reads campaigns.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command that lists `CommandOption.configuration` among its options.
    ///   - body: reads and prints.
    /// - Throws: `CommandFailure` for a failure of the registry, and for one that has no campaigns yet.
    static func read(_ invocation: CommandInvocation, _ body: (any CampaignRegistry) throws -> Void) throws {
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            try registry.requireSchema(CampaignRules.schemaVersion, for: "Counting campaigns")
            try body(registry)
        }
    }
}

/// `apus campaign list`.
struct CampaignListCommand: Command {
    private static let limitDefault = 100
    private static let app = CommandOption.value("app", "NAME", "Only campaigns of this app.")
    private static let limit = CommandOption.value(
        "limit", letter: "n", "COUNT", "The most campaigns to list. Default: \(limitDefault).")

    let name = "list"
    let summary = "List campaigns and their sums, newest first"
    let help = CommandHelp(
        discussion: """
            Lists campaigns, the newest on top. The columns:

              MATCHED    devices that were found for the events
              ACCEPTED   pushes that their push service took, and the part of MATCHED
              OPENED     pushes whose opening was reported, and the part of ACCEPTED
              DEAD       pushes whose token was dead
              EXPIRED    pushes that were too old to be sent
              COALESCED  pushes left out because a newer one said the same
              LETTERS    pushes that became dead letters
              LAST       the last hour that something was counted in

            A push that is on its way, or waits for a retry, is matched only. One that was replayed
            from the dead letters may count as both accepted and a letter.
            """,
        examples: [
            .init("apus campaign list", "Lists the newest hundred."),
            .init("apus campaign list --app chat --limit 10", "Lists the newest ten of an app."),
            .init("apus campaign list --json | jq .opened", "Prints one JSON object a line."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [Self.app, Self.limit, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let app = invocation.string(Self.app)
        let limit = try invocation.integer(Self.limit, in: 1...Int.max) ?? Self.limitDefault
        try CampaignCommands.read(invocation) { registry in
            var last: Int64?
            var shownCount = 0
            try invocation.forEachPage(limit: limit) { last, limit in
                try registry.campaigns(app: app, before: last?.number, limit: limit)
            } _: { page in
                if invocation.isJSON {
                    for campaign in page { invocation.output.line(CampaignReport.report(campaign).json) }
                } else {
                    for line in CampaignReport.table(page) { invocation.output.line(line) }
                }
                shownCount += page.count
                last = page.last?.number
            }
            if shownCount == 0 { StandardError.line("no campaigns") }
            if shownCount == limit, let last, try !registry.campaigns(app: app, before: last, limit: 1).isEmpty {
                StandardError.line("there are more: give a higher --limit")
            }
        }
        return .ok
    }
}

/// `apus campaign show`.
struct CampaignShowCommand: Command {
    private static let from = CommandOption.value(
        "from", "TIME", "Only from the hour of a time on, 2026-01-31T12:00:00Z, or of an age, 2h.")
    private static let through = CommandOption.value(
        "through", "TIME", "Only through the hour of a time or an age, as in --from.")
    private static let step = CommandOption.value(
        "by", "STEP", "hour or day. Default: hour for up to three days, else day.")
    /// The longest time that is shown by hour without `--by`.
    private static let hoursMaximum: Int64 = 72

    let name = "show"
    let summary = "Show the counts of a campaign, by platform and over time"
    let help = CommandHelp(
        discussion: """
            Shows the sums of a campaign, its counts by platform, and its hours or days (of UTC)
            with a bar of what was accepted. Times without pushes are left out. A push counts in
            the hour in which it happened, an opening in the hour of its report.

            Counts that are too old are removed from the registry, and from the sums. If the
            registry has no such campaign, the exit code is 65.
            """,
        examples: [
            .init("apus campaign show chat spring-sale", "Shows a campaign for people."),
            .init("apus campaign show chat spring-sale --from 24h --by hour", "Shows its last day by hour."),
            .init(
                "apus campaign show chat dataset:notes --from 2026-01-01T00:00:00Z --through 2026-01-31T23:59:59Z",
                "Shows one month."),
            .init("apus campaign show chat spring-sale --json", "Shows it for programs."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [Self.from, Self.through, Self.step, .json] + CommandOption.configuration
    let operands = Operands.exactly(["APP", "NAME"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let key = CampaignKey(app: invocation.operands[0], name: invocation.operands[1])
        let from = try invocation.moment(Self.from)
        let through = try invocation.moment(Self.through)
        if let from, let through, from > through {
            throw CommandFailure.usage("--from is later than --through")
        }
        let wanted = try Self.step(invocation)
        try CampaignCommands.read(invocation) { registry in
            guard let campaign = try registry.campaign(key) else { throw RegistryError.noCampaign(key) }
            let hours = CampaignHour.range(from: from, through: through, of: campaign)
            let step = wanted ?? ((hours?.count ?? 0) <= Self.hoursMaximum ? .hour : .day)
            let slices = try hours.map { (hours) throws(RegistryError) in
                try registry.campaignSlices(key, hours: hours)
            }
            let timeline = CampaignTimeline(slices ?? [], by: step)
            let report = CampaignReport(campaign: campaign, hours: hours, timeline: timeline, step: step)
            invocation.show(json: report.report.json, lines: report.lines)
        }
        return .ok
    }

    private static func step(_ invocation: CommandInvocation) throws(CommandFailure) -> CampaignTimeline.Step? {
        guard let text = invocation.string(step) else { return nil }
        guard let step = CampaignTimeline.Step(rawValue: text) else {
            throw .usage("--by takes hour or day, not '\(text)'")
        }
        return step
    }
}
