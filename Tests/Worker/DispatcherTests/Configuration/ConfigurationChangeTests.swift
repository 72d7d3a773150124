import Testing
import WorkerConfiguration

@Suite("The change from one configuration to another")
struct ConfigurationChangeTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private func change(to text: String, from old: String = ConfigurationFixture.app) throws -> ConfigurationChange {
        ConfigurationChange(from: try fixture.load(old), to: try fixture.load(text))
    }

    @Test("Nothing has changed: the parts begin anew all the same, because files may hold something else")
    func nothing() throws {
        let change = try change(to: ConfigurationFixture.app)
        #expect(change.keys == [])
        #expect(change.needsNewParts)
    }

    @Test("The log's level is applied in place")
    func level() throws {
        let change = try change(to: "[log]\nlevel = \"debug\"\n" + ConfigurationFixture.app)
        #expect(change.keys == ["log.level"])
        #expect(change.keysForRestart == [])
        #expect(!change.needsNewParts)
    }

    @Test("What is bound at the start needs a restart, and is named")
    func restart() throws {
        let sections = """
            [registry]
            url = "sqlite:other.db"
            listen = "127.0.0.1:8081"
            [admin]
            listen = "127.0.0.1:1"
            hosts = ["a"]
            [log]
            format = "text"

            """
        let change = try change(to: sections + ConfigurationFixture.app)
        let keys = ["admin.hosts", "admin.listen", "log.format", "registry.listen", "registry.url"]
        #expect(change.keys == keys)
        #expect(change.keysForRestart == keys)
        #expect(!change.needsNewParts)
    }

    @Test("A password that changes is told by its key alone")
    func password() throws {
        let old = "[rabbitmq]\nurl = \"amqp://a:one@h/\"\n" + ConfigurationFixture.app
        let change = try change(to: old.replacing("one", with: "two"), from: old)
        #expect(change.keys == ["rabbitmq.url"])
        #expect(change.needsNewParts)
        #expect(!"\(change)".contains("two"))
    }

    @Test("A new app, an app that goes, and an app with another key are told by their keys")
    func apps() throws {
        let other = ConfigurationFixture.app.replacing("chat", with: "mail")
        let added = try change(to: ConfigurationFixture.app + other)
        #expect(added.keys.contains("app.1.name") && added.keys.allSatisfy { $0.hasPrefix("app.1.") })
        #expect(added.needsNewParts)
        let removed = try change(to: ConfigurationFixture.app, from: ConfigurationFixture.app + other)
        #expect(removed.keys == added.keys)
        let renamed = try change(to: ConfigurationFixture.app.replacing("ABC123DEFG", with: "NEW123DEFG"))
        #expect(renamed.keys == ["app.0.apns.key_id"])
    }
}
