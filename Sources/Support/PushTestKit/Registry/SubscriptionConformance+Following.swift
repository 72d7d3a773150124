import PushCore

extension SubscriptionConformance {
    static let followingChecks = [
        RegistryConformance("Whoever follows knows what was saved, changed and removed, in steps of any size") {
            registry in
            for limit in [1, 3, 100] {
                var known: [Int64: FollowedSubscription] = [:]
                for index in 0..<7 { _ = try registry.save([try subscription(key("l\(limit)-\(index)"))]) }
                var cursor = try follow(registry, &known, from: nil, limit: limit)
                try expect(registry, is: known, "after the beginning")
                _ = try registry.save([try subscription(key("l\(limit)-1"), recordType: "Album")])
                _ = try registry.removeSubscription(key("l\(limit)-2"))
                _ = try registry.save([try subscription(key("l\(limit)-new"))])
                cursor = try follow(registry, &known, from: cursor, limit: limit)
                try expect(registry, is: known, "after changes")
                let quiet = try registry.subscriptionChanges(after: cursor, limit: limit)
                try RegistryConformance.expect(quiet.isCaughtUp, is: true, "caught up when nothing changed")
            }
        },
        RegistryConformance("A subscription that is saved while all are read is known at the end") { registry in
            for index in 0..<10 { _ = try registry.save([try subscription(key("s\(index)"))]) }
            var known: [Int64: FollowedSubscription] = [:]
            let step = try registry.subscriptionChanges(after: nil, limit: 4)
            for case .saved(let subscription) in step.changes { known[subscription.row] = subscription }
            _ = try registry.save([try subscription(key("s0"), recordType: "Album"), try subscription(key("late"))])
            _ = try registry.removeSubscription(key("s1"))
            _ = try registry.removeSubscription(key("s9"))
            _ = try follow(registry, &known, from: step.next, limit: 4)
            try expect(registry, is: known, "at the end")
        },
        RegistryConformance("A device takes its own subscriptions along, a user's stay") { registry in
            try devices(["d1", "d2", "d3"], in: registry)
            _ = try registry.save([
                try subscription(key("a", device: "d1")), try subscription(key("b", device: "d2")),
                try subscription(key("c", device: "d3")), try subscription(key("d")),
            ])
            var known: [Int64: FollowedSubscription] = [:]
            let cursor = try follow(registry, &known, from: nil)
            _ = try registry.removeDevice("d1")
            try registry.upsert([try RegistryConformance.device("d2", app: "mail")])
            try devices(["d1"], in: registry)
            _ = try follow(registry, &known, from: cursor)
            let left = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10)
            try RegistryConformance.expect(
                left.map(\.subscription.key.subscriptionID).sorted(), is: ["c", "d"], "what is left")
            try expect(registry, is: known, "at the end")
        },
        RegistryConformance("A cursor of another registry makes the reader start over") { registry in
            _ = try registry.save([try subscription(key("s"))])
            let stale = StoredSubscription(row: 99, subscription: try subscription(key("stale")))
            var known = [stale.row: FollowedSubscription(stale)]
            _ = try follow(
                registry, &known, from: SubscriptionCursor(logPosition: 1_000_000, loadingAfterRow: nil))
            try expect(registry, is: known, "after starting over")
        },
    ]

    private static func expect(
        _ registry: any SubscriptionRegistry, is known: [Int64: FollowedSubscription], _ what: String
    ) throws {
        let all = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10_000)
        try RegistryConformance.expect(
            known, is: Dictionary(uniqueKeysWithValues: all.map { ($0.row, FollowedSubscription($0)) }), what)
    }
}
