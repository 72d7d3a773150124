import Essentials
import TOML

/// Describes every key of the configuration: as a document, and as a list for a terminal.
public enum ConfigurationDocument {
    private static let columns = 100
    private static let indent = "      "

    /// The document `deploy/configuration.md`, as Markdown.
    public static let markdown = makeMarkdown()

    /// All keys, two lines for each.
    public static let list = makeList()

    /// The keys of each table, in the order of the sample.
    private static var sections: [(name: String, keys: [ConfigurationKey])] {
        var sections: [(name: String, keys: [ConfigurationKey])] = []
        for key in ConfigurationKey.all {
            if sections.last?.name == key.section {
                sections[sections.count - 1].keys.append(key)
            } else {
                sections.append((key.section, [key]))
            }
        }
        return sections
    }

    // MARK: The tables

    /// A table of the configuration, for a document in another form.
    public struct Table: Sendable {
        /// Its heading in the file: `[rabbitmq]`, `[[app]]`.
        public let heading: String
        /// Its subject, in one sentence.
        public let summary: String
        /// Its keys: the name, the default or `required`, and all that there is to say, in sentences.
        public let keys: [(name: String, standard: String, text: String)]
    }

    /// All tables, in the order of the sample.
    public static var tables: [Table] {
        sections.map { section in
            Table(
                heading: ConfigurationSection.heading(section.name),
                summary: ConfigurationSection.summary(section.name),
                keys: section.keys.map { key in
                    let values = key.values.map { "Values: \($0)." }
                    let sentences = [key.summary, values, key.notes].compactMap { $0 }.filter { !$0.isEmpty }
                    return (key.name, standard(key), sentences.joined(separator: " "))
                })
        }
    }

    // MARK: The list

    private static func makeList() -> String {
        ConfigurationKey.all.map { key in
            let lines = key.summary.wrapped(columns: columns - indent.count).map { indent + $0 }
            return "  \(key.path(app: nil)) (\(standard(key)))\n" + lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func standard(_ key: ConfigurationKey) -> String {
        guard let standard = key.standard else { return "required" }
        let literal = TOMLNode.literal(standard)
        return ["\"\"", "[]"].contains(literal) ? "default: none" : "default: \(literal)"
    }

    // MARK: The document

    private static func makeMarkdown() -> String {
        """
        # Configuration

        `apus config document` prints this document, and a test compares the two. The configuration is one TOML file:
        `--config FILE`, else `$APUS_CONFIG`, else `apus.toml` in the current folder. A value is the first of:

        1. `--set KEY=VALUE` on the command line, for example `--set rabbitmq.prefetch=500`;
        2. the environment, for example `APUS_RABBITMQ_PREFETCH=500`;
        3. the file, whose relative paths begin at its folder;
        4. the default; `""` and `[]` are none, unless the key says more.

        - In the environment and in `--set` apps and sources count from 0: `APUS_APP_0_APNS_KEY_ID` is
          `app.0.apns.key_id`.
        - *secret*: give it as its variable, or name a file with it in `APUS_…_FILE`. A credential of systemd, a file
          `APUS_…` in `$CREDENTIALS_DIRECTORY`, is such a file: `APUS_RABBITMQ_URL`, or `APUS_APP_0_APNS_KEY` for a
          `key_file`. Files with keys or passwords have mode 600.
        - *restart*: a change needs a restart. All others need a reload (SIGHUP).

        `apus init` writes a sample with every key, `apus check` reports every problem at once, and
        `apus check --values` shows each value in force and its origin.

        """ + sections.map { table($0.name, $0.keys) }.joined()
    }

    private static func table(_ name: String, _ keys: [ConfigurationKey]) -> String {
        var text = "\n## `\(ConfigurationSection.heading(name))`\n\n\(escaped(ConfigurationSection.summary(name)))\n\n"
        text += "| key | default | values | meaning |\n|---|---|---|---|\n"
        for key in keys {
            let standard = key.standard.map { "`\(TOMLNode.literal($0))`" } ?? "required"
            let cells = ["`\(key.name)`", standard, key.values ?? "", escaped(key.summary) + marks(key)]
            text += "| \(cells.joined(separator: " | ")) |\n"
        }
        let noted = keys.filter { !$0.details.isEmpty }
        if !noted.isEmpty { text += "\n" }
        for key in noted {
            let lines = "- `\(key.name)`: \(escaped(key.details))".wrapped(columns: columns)
            text += lines.joined(separator: "\n  ") + "\n"
        }
        return text
    }

    /// The marks of a secret key, and of a key whose change needs a restart; the head of the document explains both.
    private static func marks(_ key: ConfigurationKey) -> String {
        (key.isSecret ? " *secret*" : "") + (key.effect == .afterRestart ? " *restart*" : "")
    }

    /// The text with the characters escaped that Markdown would take for emphasis or for the end of a cell.
    private static func escaped(_ text: String) -> String {
        text.map { "*|".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
