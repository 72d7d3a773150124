import Crypto
import Essentials
import FCMTransport
import ServiceClient
import Testing

@Suite("Service accounts as secret stores and editors write them")
struct ServiceAccountTests {
    private static func json(key: String, more: String = "") -> String {
        #"{"type":"service_account","project_id":"chat-1","client_email":"push@chat-1.example","#
            + #""private_key":"\#(key)"\#(more)}"#
    }

    @Test("An account is read whose text was quoted, encoded, marked or given raw line feeds")
    func forms() throws {
        let pem = try RS256PrivateKey.generate().pem
        let lines = pem.split(separator: "\n")
        let whole = Self.json(key: lines.joined(separator: #"\n"#) + #"\n"#)
        let doubled = Self.json(key: lines.joined(separator: #"\\n"#))
        let escaped = whole.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let forms = [
            "as it is": whole, "byte order mark": "\u{feff}" + whole, "single quotes": "'\(whole)'\n",
            "doubled \\\\n": doubled, "raw line feeds": Self.json(key: pem), "one line": Self.json(key: lines.joined()),
            "CR": Self.json(key: lines.joined(separator: "\r")), "a text in JSON": "\"\(escaped)\"",
            "base64": Base64.encode(Array(whole.utf8)), "indented": "  " + whole.replacing(",", with: ",\n    "),
        ]
        for (name, text) in forms {
            let account = try ServiceAccount(json: Array(text.utf8))
            #expect(account.email == "push@chat-1.example" && account.projectID == "chat-1", "\(name)")
            #expect(account.publicKeyPEM == (try RS256PrivateKey(pem: Array(pem.utf8)).publicKeyPEM), "\(name)")
        }
    }

    @Test("Credentials print neither the account's key nor the proxy's password")
    func prints() throws {
        let json = Self.json(key: "BEGIN PRIVATE KEY")
        let endpoint = TokenEndpoint(url: "https://tokens.example", proxy: "http://user:hidden@proxy.example")
        let credentials = ServiceAccountCredentials(.json(Array(json.utf8)), endpoint: endpoint)
        var dumped = "\(credentials) \(endpoint)"
        dump(credentials, to: &dumped)
        dump(endpoint, to: &dumped)
        // The bytes of the JSON, as a dump would show them.
        #expect(!dumped.contains("hidden") && !dumped.contains("BEGIN") && !dumped.contains("- 123"))
        #expect(dumped.contains("a service account") && dumped.contains("https://tokens.example"))
    }

    @Test("What is wrong with an account is said, without the key")
    func causes() throws {
        let cases = [
            (#"{"type":"service_account","#, "byte 26"),
            (Self.json(key: "x", more: #","private_key":"y""#), "\"private_key\" is there twice"),
            (Self.json(key: #"-----BEGIN PRIVATE KEY-----\nMIGH"#), "cut off"),
            ("[]", "not a JSON object"), ("\"text\"", "not a JSON object"),
        ]
        for (text, words) in cases {
            let error = try #require(throws: ServiceError.self) { _ = try ServiceAccount(json: Array(text.utf8)) }
            #expect(error.message.contains(words) && !error.message.contains("MIGH"), "\(error)")
        }
    }
}
