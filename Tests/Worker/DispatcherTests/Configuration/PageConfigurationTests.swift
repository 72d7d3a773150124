import Crypto
import OperatorPage
import PushTestKit
import Testing
import WorkerConfiguration

@Suite("The configuration of the operator's page")
struct PageConfigurationTests {
    private let fixture: ConfigurationFixture

    init() throws { fixture = try ConfigurationFixture() }

    private func text(_ admin: String) -> String { "[admin]\n\(admin)\n" + ConfigurationFixture.app }

    @Test("The page is at /ui without a login, and an empty path is no page")
    func standard() throws {
        let page = try #require(try fixture.load(text("")).configuration.admin.page)
        #expect(page.path == "/ui" && page.usersFile == nil && page.userHeader.isEmpty && !page.showsPayloads)
        #expect(try fixture.load(text("page_path = \"\"")).configuration.admin.page == nil)
    }

    @Test("Proxy, origins and payloads are read")
    func values() throws {
        let page = try #require(
            try fixture.load(
                text(
                    """
                    page_path = "/ops/apus"
                    user_header = "X-Forwarded-User"
                    trusted_proxies = ["127.0.0.1", "::1"]
                    operators = ["maria"]
                    allowed_origins = ["https://ops.example.com"]
                    page_shows_payloads = true
                    """)
            ).configuration.admin.page)
        #expect(page.path == "/ops/apus" && page.trustedProxies == ["127.0.0.1", "::1"])
        #expect(page.operators == ["maria"] && page.allowedOrigins == ["https://ops.example.com"])
        #expect(page.userHeader == "X-Forwarded-User" && page.showsPayloads)
    }

    @Test("A proxy may stand before the page's own passwords: then it names no user, only the addresses of clients")
    func proxyBeforePasswords() throws {
        let page = try #require(
            try fixture.load(text("users_file = \"users\"\ntrusted_proxies = [\"10.0.0.1\"]")).configuration.admin.page)
        #expect(page.trustedProxies == ["10.0.0.1"] && page.usersFile?.hasSuffix("users") == true)
    }

    @Test(
        "What would leave the page open or out of reach is refused, with the remedy",
        arguments: [
            ("page_path = \"ui\"", "page_path", "begins with a slash"),
            ("page_path = \"/ui/\"", "page_path", "begins with a slash"),
            ("page_path = \"/metrics\"", "page_path", "begins with a slash"),
            ("page_path = \"/\"", "page_path", "begins with a slash"),
            ("user_header = \"X-User\"", "trusted_proxies", "together"),
            ("trusted_proxies = [\"10.0.0.1\"]", "user_header", "together"),
            ("user_header = \"X User\"\ntrusted_proxies = [\"::1\"]", "user_header", "name of a header"),
            ("trusted_proxies = [\"10.0.0.0/8\"]\nuser_header = \"X-User\"", "trusted_proxies", "numeric"),
            ("operators = [\"maria\"]", "operators", "users_file"),
            ("allowed_origins = [\"*\"]", "allowed_origins", "one by one"),
            ("allowed_origins = [\"https://a.example/\"]", "allowed_origins", "not an origin"),
        ])
    func problems(admin: String, key: String, remedy: String) throws {
        let problems = try fixture.problems(text(admin))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("admin.\(key): ") == true, "\(problems)")
        #expect(problems.first?.contains(remedy) == true, "\(problems)")
    }

    @Test("A file of users is checked when the configuration is, and a line that is wrong is named")
    func usersFile() throws {
        let hash = try PasswordHash(of: Array("a password".utf8)).text
        try fixture.folder.write("users", "maria operator \(hash)\n")
        let page = try fixture.load(text("users_file = \"users\"")).configuration.admin.page
        #expect(page?.usersFile?.hasSuffix("/users") == true)
        try fixture.folder.write("users", "maria admin \(hash)\n")
        let problems = try fixture.problems(text("users_file = \"users\""))
        #expect(problems.count == 1 && problems.first?.contains("line 1 is no user") == true, "\(problems)")
    }

    /// The page's log has it as text (`page.users.unreadable`).
    @Test("A file that cannot be read is told in words, with the remedy")
    func unreadable() throws {
        let failure = try #require(throws: ConfigurationFile.Failure.self) {
            _ = try ConfigurationFile.read("/nonexistent/users")
        }
        #expect("\(failure)" == "there is no such file; check the path")
    }
}
