import TOML

/// One key of the configuration: its name, what it takes, its default, and its comment in the sample.
struct ConfigurationKey: Sendable {
    /// What a key takes.
    enum Kind: Sendable {
        /// Any text.
        case string
        /// One of these words.
        case choice([String])
        /// A list of texts; in one text they are separated by commas.
        case strings
        /// A whole number.
        case integer(ClosedRange<Int>)
        /// True or false.
        case boolean
        /// A length of time.
        case timeSpan(ClosedRange<TimeSpan>)
        /// Lengths of time.
        case timeSpans(ClosedRange<TimeSpan>)

        /// What is right, for an error message.
        var expectation: String {
            switch self {
            case .string: "give a string"
            case .choice(let words): "give one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
            case .strings: "give a list of strings"
            case .integer(let range): "give a whole number from \(range.lowerBound) to \(range.upperBound)"
            case .boolean: "give true or false"
            case .timeSpan(let range):
                "give a length of time from \"\(range.lowerBound)\" to \"\(range.upperBound)\", "
                    + "with the unit ms, s, m or h"
            case .timeSpans(let range):
                "give a list of lengths of time from \"\(range.lowerBound)\" to \"\(range.upperBound)\", "
                    + "with the units ms, s, m or h"
            }
        }
    }

    /// What of a secret may be printed.
    enum SecretForm: Sendable {
        /// A URL without its password.
        case url
        /// The first word, which is no secret.
        case firstWord
    }

    /// The table that the key is in: `rabbitmq`, `app`, `app.apns`.
    let section: String
    /// The name in its table.
    let name: String
    /// What it takes.
    let kind: Kind
    /// The default; nil if the key has to be given.
    let standard: TOMLNode.Value?
    /// The value in the sample, where that is not the default.
    var example: TOMLNode.Value?
    /// Whether the value must not be printed as it is; such a key can be read from a file, too, that is named by an
    /// environment variable.
    var isSecret = false
    /// What of a secret may be printed.
    var secretForm = SecretForm.url
    /// The comment in the sample.
    let comment: String

    /// Whether the key belongs to an app, of which there may be several.
    var isOfApp: Bool { section.hasPrefix("app") }

    /// The full name, with the app's place in the file (from 0) if the key belongs to an app.
    func path(app index: Int?) -> String {
        guard let index else { return "\(section).\(name)" }
        return "app.\(index)\(section.dropFirst("app".count)).\(name)"
    }

    /// The name of the environment variable that gives it.
    func variable(app index: Int?) -> String {
        "APUS_" + path(app: index).uppercased().map { $0 == "." ? "_" : "\($0)" }.joined()
    }
}
