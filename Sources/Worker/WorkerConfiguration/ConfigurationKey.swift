import TOML

/// One key of the configuration: its name, its type, its default, and its description.
///
/// The sample, the help and the document of the configuration are made from these, so a new key is described here only.
struct ConfigurationKey: Sendable {
    /// The type of a key.
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

        /// The values, for a description.
        var values: String {
            switch self {
            case .string: "a string"
            case .choice(let words): words.joined(separator: ", ")
            case .strings: "a list of strings"
            case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
            case .boolean: "true or false"
            case .timeSpan(let range): "\(range.lowerBound) to \(range.upperBound)"
            case .timeSpans(let range): "each \(range.lowerBound) to \(range.upperBound)"
            }
        }

        /// The expected values, for an error message.
        var expectation: String {
            switch self {
            case .string: "give a string"
            case .choice(let words): "give one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
            case .strings: "give a list of strings"
            case .integer(let range): "give a whole number from \(range.lowerBound) to \(range.upperBound)"
            case .boolean: "give true or false"
            case .timeSpan(let range):
                "give a duration from \"\(range.lowerBound)\" to \"\(range.upperBound)\", "
                    + "with the unit ms, s, m or h"
            case .timeSpans(let range):
                "give a list of durations from \"\(range.lowerBound)\" to \"\(range.upperBound)\", "
                    + "with the units ms, s, m or h"
            }
        }
    }

    /// The part of a secret that may be printed.
    enum SecretForm: Sendable {
        /// A URL without its password.
        case url
        /// The first word, which is no secret.
        case firstWord
        /// Nothing of it.
        case whole
    }

    /// When a change of a key has an effect on a running process.
    enum Effect: Sendable {
        /// After SIGHUP, which builds the worker and the API again.
        case afterReload
        /// After SIGHUP, without building anything again.
        case inPlace
        /// After the next start of the process.
        case afterRestart
    }

    /// The table that the key is in: `rabbitmq`, `app`, `app.apns`.
    let section: String
    /// The name in its table.
    let name: String
    /// The type of the key.
    let kind: Kind
    /// The default; nil if the key has to be given.
    let standard: TOMLNode.Value?
    /// The value in the sample, where that is not the default.
    var example: TOMLNode.Value?
    /// Whether the value must not be printed; such a key can also come from a file that the environment names.
    var isSecret = false
    /// The part of a secret that may be printed.
    var secretForm = SecretForm.url
    /// The meaning of the key, in one sentence that fits into a table.
    let summary: String
    /// More about the key, in sentences; may be empty.
    var details = ""

    /// When a change of the key has an effect on a running process.
    var effect = Effect.afterReload

    /// The list of tables that the key belongs to: `app` or `source`; nil if its table is there once.
    var list: String? {
        ConfigurationSection.lists.first { section == $0 || section.hasPrefix("\($0).") }
    }

    /// The full name, with the index (from 0) of the app, or of the other table of a list, that the key belongs to.
    func path(app index: Int?) -> String {
        guard let index, let list else { return "\(section).\(name)" }
        return "\(list).\(index)\(section.dropFirst(list.count)).\(name)"
    }

    /// The name of the environment variable that gives it.
    func variable(app index: Int?) -> String {
        "APUS_" + path(app: index).uppercased().map { $0 == "." ? "_" : "\($0)" }.joined()
    }

    /// The values in a description; nil for any text, and where the summary names the values.
    var values: String? {
        switch kind {
        case .string, .strings, .boolean: nil
        case .choice, .integer, .timeSpan, .timeSpans: kind.values
        }
    }

    /// The details of the key, how to give a secret, and whether a change needs a restart.
    var notes: String {
        var sentences = details.isEmpty ? [] : [details]
        if isSecret {
            let variable = variable(app: list == nil ? nil : 0)
            sentences.append("Secret: set it as \(variable), or name a file with it in \(variable)_FILE.")
        }
        if effect == .afterRestart { sentences.append("A change needs a restart.") }
        return sentences.joined(separator: " ")
    }
}

/// A table of the configuration, as its description begins.
enum ConfigurationSection {
    /// The tables that may be there several times.
    static let lists = ["app", "source"]

    /// The line that begins a table in the file: `[rabbitmq]`, `[[app]]`.
    static func heading(_ section: String) -> String { lists.contains(section) ? "[[\(section)]]" : "[\(section)]" }

    /// The subject of a table, in one sentence.
    static func summary(_ section: String) -> String {
        switch section {
        case "rabbitmq": "The broker, its exchanges and its queues."
        case "registry": "Devices and subscriptions, and the HTTP API that serves them."
        case "registry.quotas": "Limits of what clients of the API may store; 0 is no limit."
        case "retry": "When failed pushes are tried again."
        case "fanout": "Events that reach many devices."
        case "events": "Events that come again, and what became of events."
        case "admin": "Health and metrics."
        case "outcomes": "How backends are told what became of their pushes."
        case "analytics": "The counts of campaigns, which 'apus analytics' keeps in the registry."
        case "relay": "The outbox in a backend's database, which 'apus relay' empties."
        case "source": "One for each table whose changed rows are record events; see deploy/sources.md."
        case "log": "The log."
        case "worker": "How a worker runs."
        case "app": "One for each app, with the tables of its push services."
        case "app.apns": "Apple Push Notification service; left out if the app has no devices of Apple."
        case "webpush": "What pushes to browsers share."
        case "app.adm": "Amazon Device Messaging, for devices of Amazon."
        case "app.webpush": "Web Push, for browsers."
        case "app.webhook": "Outcomes over HTTP to the app's backend: 'apus webhooks'."
        case "app.fcm": "Firebase Cloud Messaging, for Android devices."
        default: ""
        }
    }
}

extension ConfigurationKey {
    /// Every key, in the order of the sample.
    static let all =
        rabbitMQ + [registryURL] + registryAPI + quotas + retry + fanOut + events + history + admin + log + worker
        + outcomes + analytics + relay + source + webPush
        + [appName, appBundleID, appIdentityPools, appOutcomes, appOpens] + apns + fcm + adm + appWebPush + webhook

    /// A list of texts, as a standard value.
    static func texts(_ values: [String]) -> TOMLNode.Value {
        .array(values.map { TOMLNode(.string($0), line: 0) })
    }
}
