import PushTestKit
import RegistryCore
import Testing

@testable import SQLiteRegistry

/// How SQLite finds subscriptions among very many.
struct SubscriptionPlanTests {
    private let folder: TemporaryFolder
    private let registry: SQLiteRegistry

    init() throws {
        folder = try TemporaryFolder()
        registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
    }

    private func plan(_ sql: String) throws -> [String] {
        var steps: [String] = []
        try Statement("EXPLAIN QUERY PLAN \(sql)", connection: registry.connection).forEachRow { row in
            steps.append(row.text(3))
        }
        return steps
    }

    @Test("Counts are read from an index alone, in its order")
    func counts() throws {
        let steps = try plan(SQLiteRegistry.countsSQL)
        #expect(
            steps == [
                "SCAN a USING COVERING INDEX sqlite_autoindex_app_1",
                "SEARCH s USING COVERING INDEX subscription_by_type (app=?)",
            ])
    }

    @Test("Only the subscriptions of an owner are sorted for a page")
    func pages() throws {
        func steps(_ app: String?, _ recordType: String?, _ owner: SubscriptionOwner?) throws -> (String, Bool) {
            let steps = try plan(
                SQLiteRegistry.listSQL(SubscriptionFilter(app: app, owner: owner, recordType: recordType)))
            return (steps.first ?? "", steps.contains("USE TEMP B-TREE FOR ORDER BY"))
        }
        let walk = "SEARCH s USING INTEGER PRIMARY KEY (rowid>?)"
        for recordType in [nil, "Song"] {
            for app in [nil, "chat"] {
                #expect(try steps(app, recordType, .user("anna")).0.contains("INDEX subscription_of_user (user_id=?"))
                #expect(try steps(app, recordType, .device("d")).0.contains("INDEX subscription_of_device (device=?"))
            }
            #expect(try steps(nil, recordType, nil) == (walk, false))
        }
        #expect(try steps("chat", nil, nil) == (walk, false))
        let (first, isSorted) = try steps("chat", "Song", nil)
        #expect(first.contains("INDEX subscription_by_type (app=? AND record_type=?") && !isSorted)
    }
}
