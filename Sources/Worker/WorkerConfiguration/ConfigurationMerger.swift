import ChangeEvents
import TOML

/// Puts the file, the environment and the command line over each other, and finds names that do not exist.
struct ConfigurationMerger {
    private static let countMaximum = 256
    /// The variables that begin as configuration keys do but are none.
    private static let otherVariables = ["APUS_CONFIG"]

    /// The given values, by the full name of the key; the later source wins.
    private(set) var values: [String: RawValue] = [:]
    /// How many tables each list has, wherever they were given.
    private(set) var counts: [String: Int] = [:]
    /// The values that cannot be used.
    private(set) var problems: [ConfigurationProblem] = []
    /// The values that are not used.
    private(set) var warnings: [ConfigurationProblem] = []

    // MARK: The file

    /// Takes the document; call it first, because the file is the least of the three.
    mutating func add(_ entries: [TOMLEntry], path: String) {
        let sections = Self.names(of: ConfigurationKey.all.map { $0.section.prefix { $0 != "." } })
        for entry in entries {
            let origin = ConfigurationOrigin.file(path: path, line: entry.node.line)
            switch (entry.key, entry.node.value) {
            case (let list, .array(let nodes)) where ConfigurationSection.lists.contains(list):
                for (index, node) in nodes.prefix(Self.countMaximum).enumerated() {
                    addElement(node, of: list, index: index, path: path, line: entry.node.line)
                }
                if nodes.count > Self.countMaximum {
                    fail(origin, list, "\(nodes.count) \(list)s", "one worker takes at most \(Self.countMaximum)")
                }
            case (let list, _) where ConfigurationSection.lists.contains(list):
                fail(origin, list, "\(list) is not a list", "write [[\(list)]], with two brackets")
            case (let name, .table(let members)) where sections.contains(name):
                addTable(members, section: name, app: nil, path: path)
            case (let name, _) where sections.contains(name):
                fail(origin, name, "\(name) is not a table", "write [\(name)] and its keys below")
            default: failUnknown(origin, entry.key, name: entry.key, known: sections, prefix: "")
            }
        }
    }

    private mutating func addElement(_ node: TOMLNode, of list: String, index: Int, path: String, line: Int) {
        guard case .table(let members) = node.value else {
            let origin = ConfigurationOrigin.file(path: path, line: line)
            return fail(
                origin, "\(list).\(index)", "the \(list) is \(node.kindDescription)",
                "write [[\(list)]] and its keys below")
        }
        counts[list] = max(counts[list] ?? 0, index + 1)
        addTable(members, section: list, app: index, path: path)
    }

    private mutating func addTable(_ members: [TOMLEntry], section: String, app: Int?, path: String) {
        let keys = ConfigurationKey.all.filter { $0.section == section }
        let tables = Self.names(
            of: ConfigurationKey.all.filter { $0.section.hasPrefix(section + ".") }.map {
                $0.section.dropFirst(section.count + 1)
            })
        let list = section.prefix { $0 != "." }
        let prefix = app.map { "\(list).\($0)\(section.dropFirst(list.count))." } ?? "\(section)."
        for member in members {
            let origin = ConfigurationOrigin.file(path: path, line: member.node.line)
            if let key = keys.first(where: { $0.name == member.key }) {
                values[key.path(app: app)] = RawValue(content: .typed(member.node.value), origin: origin)
            } else if tables.contains(member.key) {
                guard case .table(let inner) = member.node.value else {
                    fail(origin, prefix + member.key, "not a table", "write [\(section).\(member.key)]")
                    continue
                }
                addTable(inner, section: "\(section).\(member.key)", app: app, path: path)
            } else {
                failUnknown(
                    origin, prefix + member.key, name: member.key, known: keys.map(\.name) + tables, prefix: prefix)
            }
        }
    }

    // MARK: The environment

    /// Takes the variables that begin with `APUS_`, and the files that `…_FILE` variables of secrets name.
    mutating func add(environment: [String: String]) {
        let relevant = environment.filter { $0.key.hasPrefix("APUS_") && !Self.otherVariables.contains($0.key) }
        for (name, value) in relevant.sorted(by: { $0.key < $1.key }) {
            let (list, index) = Self.place(inVariable: name)
            let origin = ConfigurationOrigin.environment(name)
            let candidates = ConfigurationKey.all.filter { $0.list == list }
            if let key = candidates.first(where: { $0.variable(app: index) == name }) {
                set(key, app: index, to: value, origin: origin)
            } else if let key = candidates.first(where: { $0.isSecret && $0.variable(app: index) + "_FILE" == name }) {
                setFromFile(key, app: index, path: value, environment: environment, origin: origin)
            } else {
                let known = ConfigurationKey.all.map { $0.variable(app: $0.list == list ? index : 0) }
                let nearest =
                    SpellingSuggestion.nearest(to: name, among: known).map { "did you mean \($0)?" } ?? "it is ignored"
                warnings.append(
                    ConfigurationProblem(
                        origin: origin, key: "", message: "no configuration key has this variable", remedy: nearest))
            }
        }
    }

    private mutating func setFromFile(
        _ key: ConfigurationKey, app: Int?, path: String, environment: [String: String], origin: ConfigurationOrigin
    ) {
        let plain = key.variable(app: app)
        guard environment[plain] == nil else {
            return fail(origin, key.path(app: app), "\(plain) is also set", "set only one of them")
        }
        do {
            var bytes = try ConfigurationFile.read(path)
            // One line end, as an editor or `echo` leaves it; more of them would be part of the secret.
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            set(key, app: app, to: String(decoding: bytes, as: UTF8.self), origin: origin)
        } catch {
            fail(
                origin, key.path(app: app), "cannot read \(path): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        }
    }

    /// The list that a variable belongs to, and the index in it; nil if it belongs to none.
    private static func place(inVariable name: String) -> (list: String?, index: Int?) {
        for list in ConfigurationSection.lists {
            let prefix = "APUS_\(list.uppercased())_"
            if name.hasPrefix(prefix), let index = Int(name.dropFirst(prefix.count).prefix { $0 != "_" }) {
                return (list, index)
            }
        }
        return (nil, nil)
    }

    // MARK: The command line

    /// Takes what `--set` gave; call it last.
    mutating func add(_ overrides: [ConfigurationOverride]) {
        for override in overrides {
            let parts = override.key.split(separator: ".", omittingEmptySubsequences: false)
            let index = parts.count > 1 ? Int(parts[1]) : nil
            let list = index == nil ? nil : ConfigurationSection.lists.first { $0 == parts[0] }
            let candidates = ConfigurationKey.all.filter { $0.list == list }
            if let key = candidates.first(where: { $0.path(app: index) == override.key }) {
                set(key, app: index, to: override.value, origin: .flag)
            } else {
                let known = ConfigurationKey.all.map { $0.path(app: $0.list == list ? index : 0) }
                failUnknown(.flag, override.key, name: override.key, known: known, prefix: "")
            }
        }
    }

    // MARK: All of them

    private mutating func set(_ key: ConfigurationKey, app: Int?, to text: String, origin: ConfigurationOrigin) {
        if let app, let list = key.list {
            guard (0..<Self.countMaximum).contains(app) else {
                let remedy = "count the \(list)s from 0 to \(Self.countMaximum - 1)"
                return fail(origin, key.path(app: app), "there is no \(list) \(app)", remedy)
            }
            counts[list] = max(counts[list] ?? 0, app + 1)
        }
        values[key.path(app: app)] = RawValue(content: .text(text), origin: origin)
    }

    private mutating func fail(
        _ origin: ConfigurationOrigin, _ key: String, _ message: String, _ remedy: String, isTransient: Bool = false
    ) {
        problems.append(
            ConfigurationProblem(
                origin: origin, key: key, message: message, remedy: remedy, isTransient: isTransient))
    }

    private mutating func failUnknown(
        _ origin: ConfigurationOrigin, _ key: String, name: String, known: [String], prefix: String
    ) {
        if let nearest = SpellingSuggestion.nearest(to: name, among: known) {
            return fail(origin, key, "unknown key", "did you mean '\(prefix)\(nearest)'?")
        }
        let elsewhere = ConfigurationKey.all.filter { $0.name == name }.map { "[\($0.section)]" }
        if !elsewhere.isEmpty {
            return fail(origin, key, "unknown key", "'\(name)' belongs to " + elsewhere.joined(separator: " or "))
        }
        fail(origin, key, "unknown key", "known keys: " + known.joined(separator: ", "))
    }

    /// The distinct names, in their order.
    private static func names(of parts: [Substring]) -> [String] {
        var names: [String] = []
        for part in parts where !names.contains(String(part)) { names.append(String(part)) }
        return names
    }
}
