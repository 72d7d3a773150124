import Backoffice
import ChangeEvents
import Crypto
import DispatchCore
import FCMSimulator
import Notifications
import PushTestKit
import RegistryCore
import Testing
import WorkerConfiguration

@testable import Dispatcher

@Suite("The configuration of FCM")
struct FCMConfigurationTests {
    private static let account = Result { try ServiceAccountKey(projectID: "chat-4711") }

    private let fixture: ConfigurationFixture

    init() throws {
        fixture = try ConfigurationFixture()
        let json = try Self.account.get().credentialsJSON(tokenURI: "https://oauth2.googleapis.com/token")
        try fixture.folder.write("account.json", json)
    }

    private static let android = """
        [[app]]
        name = "chat"
        bundle_id = "com.example.chat"
        [app.fcm]
        service_account_file = "account.json"

        """

    @Test("An app may use FCM alone, APNs alone, or both, and each service has its own route")
    func services() throws {
        let both =
            Self.android.replacing("\"chat\"", with: "\"mail\"")
            + "[app.apns]\nkey_file = \"key.p8\"\nkey_id = \"ABC123DEFG\"\nteam_id = \"DEF123GHIJ\"\n"
        let loaded = try fixture.load(
            ConfigurationFixture.app + Self.android.replacing("\"chat\"", with: "\"a\"") + both)
        let apps = loaded.configuration.apps
        #expect(apps.map { $0.apns != nil } == [true, false, true])
        #expect(apps.map { $0.fcm != nil } == [false, true, true])
        let routes = loaded.configuration.pipeline.routes
        #expect(routes.map(\.index) == Array(0...4))
        #expect(routes.map(\.name) == ["chat", "a", "mail", "a", "mail"])
        #expect(routes.map(\.service) == [.apns, .courier, .apns, .fcm, .fcm])
        #expect(routes.map { $0.transportRoute(to: .apns) } == [0, nil, 2, nil, nil])
        #expect(routes.map { $0.transportRoute(to: .apnsSandbox) } == [1, nil, 3, nil, nil])
        #expect(routes.map { $0.transportRoute(to: .gcm) } == [nil, nil, nil, 4, 5])
        #expect(routes.map { $0.transportRoute(to: .courier) } == [6, 7, 8, nil, nil])
    }

    @Test("An account that is not Google's is warned of, unless its messages are meant to go elsewhere")
    func foreignAccount() throws {
        let google = try Self.account.get().credentialsJSON(tokenURI: "https://oauth2.googleapis.com/token")
        func warnings(_ more: String = "") throws -> [String] {
            try fixture.load(Self.android + more).warnings.map { "\($0)" }
                .filter { $0.contains("universe") || $0.contains("token_uri") }
        }
        #expect(try warnings().isEmpty)
        let universe = google.replacing("\"googleapis.com\"", with: "\"cloud.example\"")
        try fixture.folder.write("account.json", universe)
        let first = try warnings()
        #expect(first.count == 1 && first[0].contains("cloud.example"), "\(first)")
        let foreign = google.replacing("oauth2.googleapis.com", with: "oauth2.googleapis.com.evil.example")
        try fixture.folder.write("account.json", foreign)
        let second = try warnings()
        #expect(second.count == 1 && second[0].contains("oauth2.googleapis.com.evil.example"), "\(second)")
        #expect(try warnings("endpoint = \"localhost:8443\"\n").isEmpty)
    }

    @Test("A key of APNs that is given makes the others required, and an app without any service is told so")
    func required() throws {
        let partly = try fixture.problems(Self.android + "[app.apns]\nkey_id = \"ABC123DEFG\"\n")
        #expect(partly.contains { $0.contains("app.0.apns.key_file: missing") })
        #expect(partly.contains { $0.contains("app.0.apns.team_id: missing") })
        let none = try fixture.problems("[[app]]\nname = \"chat\"\nbundle_id = \"com.example.chat\"\n")
        #expect(none.contains { $0.contains("app.0.apns.key_file: missing") })
    }

    @Test(
        "What is wrong is said with the key, the value and the remedy",
        arguments: [
            ("project_id = \"Chat 1\"", "app.0.fcm.project_id"), ("endpoint = \"nowhere\"", "app.0.fcm.endpoint"),
            ("token_url = \"http://localhost/token\"", "app.0.fcm.token_url"),
            ("connections = 65", "app.0.fcm.connections"),
            ("proxy = \"ftp://x\"", "app.0.fcm.proxy"), ("ca_file = \"missing.pem\"", "app.0.fcm.ca_file"),
        ])
    func problems(_ line: String, _ key: String) throws {
        let problems = try fixture.problems(Self.android + line + "\n")
        #expect(problems.count == 1 && problems[0].contains("\(key): "), "\(problems)")
    }

    @Test(
        "A service account that cannot be used is said to be so, and never printed",
        arguments: [
            "", "{}", "[]", #"{"type":"authorized_user","client_email":"a@b","private_key":"s3cr3t"}"#,
            #"{"client_email":"a@b","private_key":"s3cr3t"}"#, #"{"client_email":"a\"b","private_key":"s3cr3t"}"#,
        ])
    func accounts(_ json: String) throws {
        try fixture.folder.write("account.json", json)
        let problems = try fixture.problems(Self.android)
        #expect(problems.count == 1 && problems[0].contains("app.0.fcm.service_account_file: "), "\(problems)")
        #expect(!problems[0].contains("s3cr3t"))
    }
}
