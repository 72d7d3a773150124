import ChangeEvents
import Geography
import Predicates
import RegistryCore

extension SubscriptionConformance {
    static let savingChecks = [
        RegistryConformance("A saved subscription comes back as it was saved, whatever it holds") { registry in
            var everything = try subscription(key("s1"))
            everything.kind = .query
            everything.database = .private
            everything.zoneName = "Zürich"
            everything.recordType = "Löwe"
            everything.firesOn = .all
            everything.firesOnce = true
            everything.predicate = try Predicate(anyOf: [
                [
                    PredicateTerm("a", .isIn([.integer(1), .of("x"), .bytes([0, 255])], .exact), isNegated: true),
                    PredicateTerm(
                        "b.c",
                        .isInRange(ValueRange(lower: .init(.date(milliseconds: -1), isIncluded: true), upper: nil))),
                ], [PredicateTerm("", .containsAnyToken(["löwe", "tiger"]))],
            ])
            everything.notification.localizedAlert = .init(key: "K", argumentFields: ["a", "b"])
            everything.notification.title = "{a} \"quoted\" \u{1F981}"
            everything.notification.shouldBadge = true
            everything.notification.additionalFields = ["a"]
            everything.cloudKitJSON = Array(#"{"subscriptionID":"s1","größe":"\u0000"}"#.utf8)
            let row = try registry.save([everything])[0]
            try RegistryConformance.expect(
                try registry.subscription(everything.key),
                is: StoredSubscription(row: row, subscription: everything), "the saved subscription")
        },
        RegistryConformance("A page ends where its bytes are enough, and says that there is more") { registry in
            let terms = (0..<60).map { number in
                [PredicateTerm("a", .beginsWith("\(number)" + String(repeating: "x", count: 1_000)))]
            }
            let predicate = try Predicate(anyOf: terms)
            let rows = try registry.save(
                try (0..<40).map { number in
                    var large = try subscription(key("s\(number)", user: number < 38 ? "anna" : "ben"))
                    large.predicate = predicate
                    return large
                })
            for (filter, count) in [(SubscriptionFilter(), 40), (SubscriptionFilter(owner: .user("anna")), 38)] {
                var found: [Int64] = []
                var sizes: [Int] = []
                var next: Int64?
                repeat {
                    let page = try registry.subscriptionPage(matching: filter, after: next, limit: 1_000)
                    found += page.subscriptions.map(\.row)
                    sizes.append(page.subscriptions.count)
                    next = page.next
                } while next != nil
                let most = SubscriptionPage.bytesMaximum / 60_000 + 1
                try RegistryConformance.expect(found, is: Array(rows.prefix(count)), "the rows on all pages")
                try RegistryConformance.expect(sizes.count, is: 3, "the pages")
                try RegistryConformance.expect(sizes.allSatisfy { $0 <= most }, is: true, "\(sizes) as sizes of pages")
            }
            let last = try registry.subscriptionPage(matching: SubscriptionFilter(), after: rows[36], limit: 3)
            try RegistryConformance.expect(last.next, is: nil, "the next page of the last")
        },
        RegistryConformance("Saving again keeps the row and replaces the rest") { registry in
            let first = try registry.save([try subscription(key("s1")), try subscription(key("s2"))])
            let second = try registry.save([try subscription(key("s1"), recordType: "Album")])
            try RegistryConformance.expect(second, is: [first[0]], "the row")
            let stored = try registry.subscription(key("s1"))
            try RegistryConformance.expect(stored?.subscription.recordType, is: "Album", "the record type")
            let all = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10)
            try RegistryConformance.expect(all.map(\.row), is: first, "all rows")
        },
        RegistryConformance("CloudKit's own dictionary is kept with a subscription, and goes with the next save") {
            registry in
            try devices(["d1"], in: registry)
            var saved = try subscription(key("s1"))
            saved.cloudKitJSON = Array(#"{"subscriptionID":"s1"}"#.utf8)
            let row = try registry.save([saved])[0]
            let stored = StoredSubscription(row: row, subscription: saved)
            let all = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10)
            try RegistryConformance.expect(all, is: [stored], "the list")
            let page = try registry.resolveSubscribers([SubscriberRequest(subscriptions: [row])], limit: 10)[0]
            try RegistryConformance.expect(
                page.subscriptions, is: [PushedSubscription(saved, row: row)], "what an event is pushed to")
            let natively = try subscription(key("s1"))
            _ = try registry.save([natively])
            try RegistryConformance.expect(
                try registry.subscription(natively.key)?.subscription, is: natively, "what was saved without one")
            saved.cloudKitJSON = Array(repeating: 0x20, count: SubscriptionRules.cloudKitJSONBytesMaximum + 1)
            try RegistryConformance.expect(.invalid, "saving a long one") { _ = try registry.save([saved]) }
        },
        RegistryConformance("Equal identifiers of other owners and apps are other subscriptions") { registry in
            try devices(["d1"], in: registry)
            let keys = [key("s"), key("s", user: "ben"), key("s", app: "mail"), key("s", device: "d1")]
            let rows = try registry.save(try keys.map { try subscription($0) })
            try RegistryConformance.expect(Set(rows).count, is: 4, "different rows")
            try RegistryConformance.expect(try registry.removeSubscription(keys[1]), is: true, "removing one")
            try RegistryConformance.expect(try registry.removeSubscription(keys[1]), is: false, "removing it again")
            for (index, key) in keys.enumerated() {
                let isThere = try registry.subscription(key) != nil
                try RegistryConformance.expect(isThere, is: index != 1, "\(key) is there")
            }
        },
        RegistryConformance("What breaks a rule is refused, with all that was to be saved with it") { registry in
            let good = try subscription(key("good"))
            var cases: [RecordSubscription] = []
            for change: (inout RecordSubscription) -> Void in [
                { $0.recordType = nil }, { $0.recordType = "So\0ng" }, { $0.zoneName = "\0" }, { $0.firesOn = [] },
                { $0.key.subscriptionID = "" },
                { $0.key.subscriptionID = String(repeating: "x", count: 257) }, { $0.kind = .zone },
                { $0.kind = .database }, { $0.database = .shared }, { $0.key.app = "" },
                { $0.notification.additionalFields = ["a", "b", "c", "d"] },
                { $0.notification.alertBody = String(repeating: "x", count: 3_000) },
            ] {
                var bad = good
                change(&bad)
                cases.append(bad)
            }
            for bad in cases {
                try RegistryConformance.expect(.invalid, "saving \(bad)") { _ = try registry.save([good, bad]) }
            }
            try RegistryConformance.expect(.notFound, "saving for no device") {
                _ = try registry.save([good, try subscription(key("s", device: "nobody"))])
            }
            try RegistryConformance.expect(try registry.subscription(good.key) == nil, is: true, "none was saved")
        },
        RegistryConformance("Lists are narrowed by app, owner and record type, and paged by row") { registry in
            try devices(["d1"], in: registry)
            let keys = [key("1"), key("2", user: "ben"), key("3", app: "mail"), key("4", device: "d1"), key("5")]
            for (index, key) in keys.enumerated() {
                _ = try registry.save([try subscription(key, recordType: index < 3 ? "Song" : "Album")])
            }
            func list(_ filter: SubscriptionFilter, after row: Int64? = nil, limit: Int = 10) throws -> String {
                try registry.subscriptions(matching: filter, after: row, limit: limit)
                    .map(\.subscription.key.subscriptionID).joined()
            }
            try RegistryConformance.expect(try list(SubscriptionFilter()), is: "12345", "all")
            try RegistryConformance.expect(try list(SubscriptionFilter(app: "chat")), is: "1245", "of an app")
            try RegistryConformance.expect(try list(SubscriptionFilter(owner: .user("anna"))), is: "135", "of a user")
            try RegistryConformance.expect(try list(SubscriptionFilter(owner: .device("d1"))), is: "4", "of a device")
            try RegistryConformance.expect(try list(SubscriptionFilter(recordType: "Album")), is: "45", "of a type")
            let first = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 2)
            try RegistryConformance.expect(
                try list(SubscriptionFilter(), after: first.last?.row, limit: 2), is: "34", "the second page")
            let counts = try registry.subscriptionCounts().map { "\($0.app) \($0.recordType ?? "-") \($0.count)" }
            try RegistryConformance.expect(
                counts.sorted(), is: ["chat Album 2", "chat Song 2", "mail Song 1"], "the counts")
        },
    ]
}

extension SubscriptionConformance {
    static let followingChecks = [
        RegistryConformance("A follower knows what was saved, changed and removed, in steps of any size") {
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
