import ServiceClient
import TOML

/// Gives the keys their types, collects all problems, and records the values in force.
struct ConfigurationReader {
    /// The given values, by the full name of the key.
    let values: [String: RawValue]
    /// How many tables each list has.
    let counts: [String: Int]
    /// The file, if there is one; its folder is where relative paths in it begin.
    let path: String?
    /// The purpose that the configuration is read for.
    let purpose: ConfigurationLoader.Purpose
    /// The problem.
    var problems: [ConfigurationProblem]
    /// Warnings: problems that do not invalidate the configuration.
    var warnings: [ConfigurationProblem]
    /// The values in force, in the order of reading.
    private(set) var effective: [EffectiveValue] = []

    init(_ merger: ConfigurationMerger, path: String?, purpose: ConfigurationLoader.Purpose) {
        values = merger.values
        counts = merger.counts
        self.path = path
        self.purpose = purpose
        problems = merger.problems
        warnings = merger.warnings
    }

    // MARK: Typed values

    /// A text, or one of the words of a choice; empty if there is none.
    mutating func text(_ key: ConfigurationKey, app: Int? = nil) -> String {
        guard case .string(let text) = value(of: key, app: app) else { return "" }
        return text
    }

    /// A list of texts.
    mutating func texts(_ key: ConfigurationKey, app: Int? = nil) -> [String] {
        switch value(of: key, app: app) {
        case .array(let nodes): nodes.compactMap { if case .string(let text) = $0.value { text } else { nil } }
        case .string(let text): Self.split(text)
        default: []
        }
    }

    /// A whole number.
    mutating func integer(_ key: ConfigurationKey, app: Int? = nil) -> Int {
        guard case .integer(let number) = value(of: key, app: app) else { return 0 }
        return number
    }

    /// True or false.
    mutating func boolean(_ key: ConfigurationKey, app: Int? = nil) -> Bool {
        guard case .boolean(let isTrue) = value(of: key, app: app) else { return false }
        return isTrue
    }

    /// A length of time.
    mutating func timeSpan(_ key: ConfigurationKey, app: Int? = nil) -> TimeSpan {
        TimeSpan(text(key, app: app)) ?? TimeSpan(milliseconds: 0)
    }

    /// Lengths of time.
    mutating func timeSpans(_ key: ConfigurationKey) -> [TimeSpan] { texts(key).compactMap { TimeSpan($0) } }

    /// Where the value of a key came from.
    func origin(of key: ConfigurationKey, app: Int? = nil) -> ConfigurationOrigin {
        values[key.path(app: app)]?.origin ?? .standard
    }

    /// A path as the process can use it; nil if the text is empty.
    func resolved(_ text: String, of key: ConfigurationKey, app: Int? = nil) -> String? {
        guard !text.isEmpty else { return nil }
        guard !text.hasPrefix("/"), let path, let slash = path.lastIndex(of: "/") else { return text }
        switch origin(of: key, app: app) {
        case .file, .standard: return path[...slash] + text
        case .environment, .flag: return text
        }
    }

    /// Whether the file that a key names is to be looked at.
    func checksFile(of key: ConfigurationKey) -> Bool {
        switch purpose {
        case .worker, .check: true
        case .registryServer: key.section == ConfigurationKey.registryListen.section
        case .webhooks:
            [ConfigurationKey.rabbitMQURL.section, ConfigurationKey.webhookURL.section].contains(key.section)
        case .tool: false
        }
    }

    /// Whether a key has a value that is not empty.
    func isGiven(_ key: ConfigurationKey, app index: Int) -> Bool {
        switch values[key.path(app: index)]?.content {
        case .text(""), .typed(.string("")), nil: false
        case .text, .typed: true
        }
    }

    // MARK: Findings

    /// Something that cannot be used.
    mutating func fail(
        _ key: ConfigurationKey, app: Int? = nil, _ message: String, _ remedy: String, isTransient: Bool = false
    ) {
        problems.append(
            ConfigurationProblem(
                origin: origin(of: key, app: app), key: key.path(app: app), message: message, remedy: remedy,
                isTransient: isTransient))
    }

    /// Something to know.
    mutating func warn(_ key: ConfigurationKey, app: Int? = nil, _ message: String, _ remedy: String) {
        warnings.append(
            ConfigurationProblem(
                origin: origin(of: key, app: app), key: key.path(app: app), message: message, remedy: remedy))
    }

    // MARK: One value

    /// The value of a key in the key's type: the given value if it is valid, else the default.
    private mutating func value(of key: ConfigurationKey, app: Int?) -> TOMLNode.Value? {
        var value = key.standard
        if let raw = values[key.path(app: app)] {
            if let given = Self.typed(raw.content, kind: key.kind) {
                value = given
            } else {
                fail(key, app: app, Self.complaint(raw.content, key: key), key.kind.expectation)
            }
        } else if value == nil {
            let variable = key.variable(app: app)
            fail(key, app: app, "missing", "it is required; set it in the file or as \(variable)")
        }
        if let value {
            effective.append(
                EffectiveValue(
                    key: key.path(app: app), literal: TOMLNode.literal(Self.shown(value, key: key)),
                    exact: Secret(TOMLNode.literal(value)), effect: key.effect,
                    origin: origin(of: key, app: app)))
        }
        return value
    }

    private static func typed(_ content: RawValue.Content, kind: ConfigurationKey.Kind) -> TOMLNode.Value? {
        switch (kind, content) {
        case (.string, .text(let text)), (.string, .typed(.string(let text))): return .string(text)
        case (.choice(let words), .text(let text)), (.choice(let words), .typed(.string(let text))):
            return words.contains(text) ? .string(text) : nil
        case (.integer(let range), .text(let text)):
            return Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
        case (.integer(let range), .typed(.integer(let number))): return range.contains(number) ? .integer(number) : nil
        case (.boolean, .text(let text)): return ["true": .boolean(true), "false": .boolean(false)][text]
        case (.boolean, .typed(.boolean(let isTrue))): return .boolean(isTrue)
        case (.timeSpan(let range), .text(let text)), (.timeSpan(let range), .typed(.string(let text))):
            return TimeSpan(text).flatMap { range.contains($0) ? .string(text) : nil }
        case (.strings, .text(let text)), (.strings, .typed(.string(let text))): return list(split(text))
        case (.strings, .typed(.array(let nodes))): return list(nodes) { _ in true }
        case (.timeSpans(let range), .text(let text)), (.timeSpans(let range), .typed(.string(let text))):
            return list(split(text).map { TOMLNode(.string($0), line: 0) }) { isTimeSpan($0, in: range) }
        case (.timeSpans(let range), .typed(.array(let nodes))): return list(nodes) { isTimeSpan($0, in: range) }
        default: return nil
        }
    }

    private static func isTimeSpan(_ text: String, in range: ClosedRange<TimeSpan>) -> Bool {
        TimeSpan(text).map(range.contains) ?? false
    }

    private static func list(_ texts: [String]) -> TOMLNode.Value {
        .array(texts.map { TOMLNode(.string($0), line: 0) })
    }

    private static func list(_ nodes: [TOMLNode], where isRight: (String) -> Bool) -> TOMLNode.Value? {
        let isAllRight = nodes.allSatisfy { if case .string(let text) = $0.value { isRight(text) } else { false } }
        return isAllRight ? .array(nodes) : nil
    }

    /// The parts between commas.
    ///
    /// In a list of URLs only a comma before another `amqp` separates, because a password may hold one.
    private static func split(_ text: String) -> [String] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: true).map(trimmed)
        guard let first = parts.first, first.hasPrefix("amqp") else { return parts }
        return parts.dropFirst().reduce(into: [first]) { urls, part in
            if part.hasPrefix("amqp://") || part.hasPrefix("amqps://") {
                urls.append(part)
            } else {
                urls[urls.count - 1] += ",\(part)"
            }
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private static func complaint(_ content: RawValue.Content, key: ConfigurationKey) -> String {
        let shown =
            switch content {
            case .text(let text): text.quoted
            case .typed(let value): TOMLNode.literal(value)
            }
        return key.isSecret ? "the value has the wrong type" : "\(shown.prefix(200)) is invalid"
    }

    private static func shown(_ value: TOMLNode.Value, key: ConfigurationKey) -> TOMLNode.Value {
        guard key.isSecret else { return value }
        switch value {
        case .string(let text):
            switch key.secretForm {
            case .url: return .string(BrokerURL.redacted(text))
            case .whole: return .string(text.isEmpty ? "" : Secret.placeholder)
            case .firstWord: return .string("\(text.prefix { $0 != " " }) \(Secret.placeholder)")
            }
        case .array(let nodes): return .array(nodes.map { TOMLNode(shown($0.value, key: key), line: $0.line) })
        default: return .string(Secret.placeholder)
        }
    }
}

extension ConfigurationReader {
    /// Reads the whole configuration.
    mutating func readConfiguration() -> Configuration {
        Configuration(
            rabbitMQ: readRabbitMQ(), registry: readRegistry(), registryAPI: readRegistryAPI(), retry: readRetry(),
            fanOut: readFanOut(), events: readEvents(), history: readHistory(), admin: readAdmin(), log: readLog(),
            worker: readWorker(), outcomes: readOutcomes(), analytics: readAnalytics(), relay: readRelay(),
            sources: readSources(), webPush: readWebPush(), apps: readApps())
    }

    /// Whether a text is 1 to 64 letters, digits and the given other characters.
    static func isName(_ text: String, allowing others: String, countMaximum: Int = 64) -> Bool {
        (1...countMaximum).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
    }

    /// Reads a key that names a PEM file of certificates.
    mutating func readCertificateFile(_ key: ConfigurationKey, app: Int? = nil) -> String? {
        guard let path = resolved(text(key, app: app), of: key, app: app) else { return nil }
        guard checksFile(of: key) else { return path }
        do {
            let bytes = try ConfigurationFile.read(path)
            if !String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") {
                fail(
                    key, app: app, "\(path) holds no certificate",
                    "name a file in PEM form (-----BEGIN CERTIFICATE-----)")
            }
        } catch { fail(key, app: app, reading: path, error) }
        return path
    }

    /// Reports a file that cannot be read.
    mutating func fail(
        _ key: ConfigurationKey, app: Int? = nil, reading path: String, _ failure: ConfigurationFile.Failure
    ) {
        fail(
            key, app: app, "cannot read \(path): \(failure.message)", failure.remedy, isTransient: failure.isTransient)
    }

    /// Warns of a file with a secret that other users can read.
    mutating func warnOfReaders(_ key: ConfigurationKey, app: Int? = nil, _ path: String) {
        guard ConfigurationFile.isReadableByOthers(path) else { return }
        warn(key, app: app, "other users can read \(path)", "run 'chmod 600 \(path)'")
    }

    /// Reads the server that a push service is replaced by, if any.
    mutating func readEndpoint(_ key: ConfigurationKey, app index: Int) -> HostPort? {
        let text = text(key, app: index)
        guard !text.isEmpty else { return nil }
        var rest = text
        var defaultPort: UInt16?
        if text.hasPrefix("https://") {
            rest.removeFirst("https://".count)
            defaultPort = 443
            if rest.hasSuffix("/") { rest.removeLast() }
        }
        let endpoint = HostPort(rest, defaultPort: defaultPort)
        if endpoint == nil || endpoint?.port == 0 {
            fail(
                key, app: index, "\(text.quoted) is invalid",
                "write HOST:PORT or https://HOST:PORT, or \"\" for the push service's own (TLS is always used)")
        }
        return endpoint
    }

    /// Reads the proxy on the way to a push service, if any.
    mutating func readProxy(_ key: ConfigurationKey, app index: Int? = nil) -> Secret? {
        let url = text(key, app: index)
        guard !url.isEmpty else { return nil }
        do throws(ServiceError) {
            _ = try HTTPProxy(url: url)
        } catch {
            fail(key, app: index, error.message, "check each part of it")
        }
        if url.contains("@"), case .file(let path, _) = origin(of: key, app: index),
            ConfigurationFile.isReadableByOthers(path)
        {
            warn(
                key, app: index, "other users can read \(path), which holds the proxy's password",
                "run 'chmod 600 \(path)'")
        }
        return Secret(url)
    }
}
