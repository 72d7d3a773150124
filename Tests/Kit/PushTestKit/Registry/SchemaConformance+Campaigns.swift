import RegistryCore

extension SchemaConformance {
    static let campaignChecks = [
        SchemaConformance("Before their migration nothing is counted of campaigns, and erasing works as it did") {
            store in
            try store.makeFirstRegistry()
            let registry = try store.open(.readWrite, store.released)
            let push = CampaignConformance.push(1, .matched)
            let open = try CampaignConformance.open(1, on: "phone")
            func expectNothing() throws {
                for act in [
                    { _ = try registry.countPushes([push], nowMilliseconds: CampaignConformance.now) },
                    { _ = try registry.countOpens([open], nowMilliseconds: CampaignConformance.now) },
                    { _ = try registry.forgetCampaigns(before: 1, pushesBefore: 1, limit: 1) },
                ] as [() throws -> Void] {
                    try store.expectRefusal(.olderSchema, mentioning: "apus registry migrate", act)
                }
                try RegistryConformance.expect(
                    try registry.campaigns(app: nil, before: nil, limit: 9).count, is: 0, "campaigns")
                try RegistryConformance.expect(
                    try registry.campaign(CampaignConformance.spring), is: nil, "a campaign")
                try RegistryConformance.expect(
                    try registry.campaignSlices(CampaignConformance.spring, hours: 0 ... .max), is: [], "parts")
                try registry.upsert([
                    try RegistryConformance.device("phone"),
                    try RegistryConformance.device("tablet", identity: nil, user: "anna"),
                ])
                try RegistryConformance.expect(try registry.eraseIdentity("identity:1"), is: 1, "the identity")
                try RegistryConformance.expect(try registry.eraseUser("anna"), is: 1, "the user")
            }
            try expectNothing()
            try store.migrate(up: nil, store.released)
            // The same connection, without a restart.
            try registry.upsert([try RegistryConformance.device("phone")])
            _ = try registry.countPushes([push], nowMilliseconds: CampaignConformance.now)
            _ = try registry.countOpens([open], nowMilliseconds: CampaignConformance.now)
            try RegistryConformance.expect(
                try registry.campaignSlices(CampaignConformance.spring, hours: 0 ... .max).map(\.counts.opened).max(),
                is: 1,
                "the opened")
            try store.migrate(down: CampaignRules.schemaVersion - 1, store.released)
            try expectNothing()
            try store.migrate(up: nil, store.released)
            try RegistryConformance.expect(
                try registry.campaigns(app: nil, before: nil, limit: 9).count, is: 0, "campaigns after the way back")
        }
    ]
}
