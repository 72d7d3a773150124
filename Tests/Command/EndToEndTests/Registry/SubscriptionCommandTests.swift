import PushTestKit
import Testing

/// `apus subscription` and `apus topic`, run as a person or a script runs them.
struct SubscriptionCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String..., input: String = "") async throws -> CommandResult {
        let environment = ["APUS_REGISTRY_URL": "sqlite:\(folder.path)/registry.db"]
        return try await CommandRunner.apus(arguments, input: input, environment: environment, in: folder)
    }

    @Test("A subscription that is saved can be shown, listed, counted and deleted")
    func subscriptionLife() async throws {
        let saved = try await apus(
            "subscription", "save", "mei", "--app", "music", "--user", "anna", "--type", "Song", "--predicate",
            "price <= 20 and artist = 'Mei Chen'", "--fires-on", "created,updated", "--alert", "{title}")
        #expect(saved.exitCode == 0 && saved.output.contains("music  user anna  mei  Song where"), "\(saved)")
        #expect(saved.errors.contains("no [[app]] named \"music\""))
        let shown = try await apus("subscription", "show", "mei", "--app", "music", "--user", "anna")
        #expect(shown.output.contains("fires on      created, updated") && shown.output.contains("{title}"))
        let json = try await apus("subscription", "show", "mei", "--app", "music", "--user", "anna", "--json")
        #expect(json.output.contains(#""subscriptionId":"mei","app":"music","userId":"anna""#))
        let listed = try await apus("subscription", "list", "--user", "anna", "--json")
        #expect(listed.output == json.output)
        let counted = try await apus("subscription", "list", "--counts")
        #expect(counted.output == "1  music  Song\n")
        let deleted = try await apus("subscription", "delete", "mei", "--app", "music", "--user", "anna")
        #expect(deleted.exitCode == 0)
        let again = try await apus("subscription", "delete", "mei", "--app", "music", "--user", "anna")
        #expect(again.exitCode == 65 && again.errors.contains("no subscription \"mei\" of user anna"))
    }

    @Test("A condition is tried on a record, and each clause is explained")
    func explains() async throws {
        let predicate = #"artist = "Mei Chen" AND price <= 20"#
        let no = try await apus(
            "subscription", "test", "--predicate", predicate, "--record", "-",
            input: #"{"artist":"mei chen","price":25}"#)
        #expect(no.exitCode == 1 && no.output.contains("25"), "\(no)")
        let yes = try await apus(
            "subscription", "test", "--predicate", predicate, "--record", "-", "--json",
            input: #"{"artist":"mei chen","price":20}"#)
        #expect(yes.exitCode == 0 && yes.output.hasPrefix("{"), "\(yes)")
        _ = try await apus(
            "subscription", "save", "s", "--app", "music", "--user", "anna", "--type", "Song", "--predicate", predicate)
        let saved = try await apus(
            "subscription", "test", "s", "--app", "music", "--user", "anna", "--record", "-",
            input: #"{"specversion":"1.0","data":{"fields":{"artist":"MEI CHEN","price":1}}}"#)
        #expect(saved.exitCode == 0, "\(saved)")
    }

    @Test("A command keeps to the quotas of the configuration")
    func quotas() async throws {
        func save(_ name: String) async throws -> CommandResult {
            try await apus(
                "subscription", "save", name, "--app", "music", "--user", "anna", "--type", "Song", "--set",
                "registry.quotas.subscriptions_per_owner=1")
        }
        #expect(try await save("a").exitCode == 0)
        let second = try await save("b")
        #expect(second.exitCode == 65, "\(second)")
        #expect(second.errors.contains("at most 1 subscriptions for each user and device of an app"))
        #expect(try await save("a").exitCode == 0)
    }

    @Test("Mistakes are explained, with the location in the predicate")
    func mistakes() async throws {
        let wrong = try await apus(
            "subscription", "save", "s", "--app", "music", "--user", "anna", "--type", "Song", "--predicate", "price <")
        #expect(wrong.exitCode == 64 && wrong.errors.contains("line 1, column"), "\(wrong)")
        let long = try await apus(
            "subscription", "save", "s", "--app", "music", "--user", "anna", "--type", "Song", "--predicate",
            "? " + String(repeating: "x", count: 70_000))
        #expect(long.exitCode == 64 && long.errors.contains("longer than 65536 bytes"), "\(long.errors.prefix(300))")
        let nobody = try await apus("subscription", "save", "s", "--app", "music", "--type", "Song")
        #expect(nobody.exitCode == 64 && nobody.errors.contains("--user or --device"))
        let typeless = try await apus("subscription", "save", "s", "--app", "music", "--user", "anna")
        #expect(typeless.exitCode == 65 && typeless.errors.contains("record type"))
        let missing = try await apus("subscription", "test", "--predicate", "a = 1", "--record", "nothing.json")
        #expect(missing.exitCode == 66 && missing.errors.contains("nothing.json"))
        let broken = try await apus("subscription", "test", "--predicate", "a = 1", "--record", "-", input: "{")
        #expect(broken.exitCode == 65 && broken.errors.contains("JSON"))
    }

    @Test("Users and devices join and leave topics")
    func topics() async throws {
        _ = try await apus("device", "add", "--app", "chat", "--token", "ab12", "--id", "d1", "--user", "anna")
        #expect(try await apus("topic", "subscribe", "room", "--app", "chat", "--user", "anna").exitCode == 0)
        #expect(try await apus("topic", "subscribe", "room", "--app", "chat", "--device", "d1").exitCode == 0)
        let listed = try await apus("topic", "list", "--app", "chat", "--json")
        #expect(listed.output == #"{"topic":"room","devices":1,"users":1}"# + "\n")
        #expect(try await apus("topic", "unsubscribe", "room", "--app", "chat", "--user", "anna").exitCode == 0)
        #expect(try await apus("topic", "unsubscribe", "room", "--app", "chat", "--user", "anna").exitCode == 65)
        let wrongApp = try await apus("topic", "subscribe", "room", "--app", "mail", "--device", "d1")
        #expect(wrongApp.exitCode == 65 && wrongApp.errors.contains("d1"))
    }
}
