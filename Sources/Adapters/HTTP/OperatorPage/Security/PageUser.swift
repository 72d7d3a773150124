import HTTPServer

/// The rights of a user of the page.
public enum PageRole: String, CaseIterable, Sendable {
    /// See everything, and change nothing.
    case viewer
    /// See and act.
    case `operator`
}

/// The sender of a request, with the sender's rights.
struct PageUser: Hashable, Sendable {
    /// How the user was recognised.
    enum Login: String, Sendable {
        /// No login is configured, and the request came from this machine.
        case none
        /// By name and password.
        case basic
        /// By the header of a proxy that the configuration trusts.
        case proxy
    }

    /// The longest name of a user, in bytes.
    static let nameBytesMaximum = 128

    let name: String
    let role: PageRole
    let login: Login
    /// The address of the client, in numbers.
    let address: String

    /// Whether a text can be the name of a user: printable ASCII without blanks, colons and quotes.
    ///
    /// A colon ends the name of basic authentication, and a blank ends it in the file of users.
    static func isName(_ text: some StringProtocol) -> Bool {
        (1...nameBytesMaximum).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A && $0 != 0x22 && $0 != 0x23 }
    }
}

/// Why a request to the page is not served, as the page's API says it.
struct PageProblem: Error, Hashable, Sendable {
    /// The kind of the problem, for programs.
    enum Code: String, CaseIterable, Sendable {
        case invalid
        case login
        case forbidden
        case crossOrigin = "cross-origin"
        case off
        case notFound = "not-found"
        case method
        case conflict
        case tooLarge = "too-large"
        case type
        case busy
        case unavailable

        /// The HTTP status.
        var status: Int {
            switch self {
            case .invalid: 400
            case .login: 401
            case .forbidden, .crossOrigin, .off: 403
            case .notFound: 404
            case .method: 405
            case .conflict: 409
            case .tooLarge: 413
            case .type: 415
            case .busy: 429
            case .unavailable: 503
            }
        }
    }

    let code: Code
    /// The problem and its remedy, for people.
    let message: String
    /// Further fields of the answer.
    var fields: [HTTPField] = []

    init(_ code: Code, _ message: String, fields: [HTTPField] = []) {
        self.code = code
        self.message = message
        self.fields = fields
    }
}
