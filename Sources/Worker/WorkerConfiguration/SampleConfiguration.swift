import Essentials
import TOML

/// The commented configuration that `apus init` writes: every key with its meaning, values and default.
public enum SampleConfiguration {
    private static let columns = 98

    /// The text of the file.
    public static let text = text(overriding: [:])

    /// The text of a file with other values than the sample's.
    ///
    /// - Parameter literals: the values as TOML writes them, by section and name, for example `app.apns.endpoint`.
    /// - Returns: the text of the file.
    public static func text(overriding literals: [String: String]) -> String {
        var text = """
            # Configuration of Apus. Every key is shown with its default, apart from the app's.
            #
            # A value is taken from the first of: --set KEY=VALUE on the command line (--set rabbitmq.prefetch=500),
            # the environment (APUS_RABBITMQ_PREFETCH=500), this file, the default. The keys of the first app are
            # app.0.name and APUS_APP_0_NAME, app.0.apns.key_id and APUS_APP_0_APNS_KEY_ID, and so on.
            # Relative paths in this file begin at the file's own folder. "" and [] are none, unless a key says more.
            # Files with keys or passwords have mode 600.

            """
        var section = ""
        var mark = ""
        for key in ConfigurationKey.all {
            if key.section != section {
                section = key.section
                text += "\n" + comment(ConfigurationSection.summary(section))
                // A list of which one may be there, but need not.
                mark = section == "source" ? "# " : ""
                text += "\(mark)\(ConfigurationSection.heading(section))\n"
            }
            let parts = [
                key.standard == nil ? "Required." : "", key.summary, key.values.map { "Values: \($0)." } ?? "",
                key.notes,
            ]
            text += comment(parts.joined(separator: " "))
            let other = literals["\(key.section).\(key.name)"]
            guard let literal = other ?? (key.example ?? key.standard).map(TOMLNode.literal) else { continue }
            text += "\(mark)\(key.name) = \(literal)\n"
        }
        return text
    }

    private static func comment(_ text: String) -> String {
        text.wrapped(columns: columns).map { "# \($0)\n" }.joined()
    }
}
