/// The SQL that makes an outbox in a backend's database.
public enum OutboxSQL {
    /// The functions that a relay calls.
    static let relayFunctions = [
        "take(integer, bigint)", "finish(bigint[], bigint[], text[])", "waited()", "problem()",
    ]

    /// Writes the whole, with the rights of roles.
    ///
    /// - Parameters:
    ///   - relayRole: the role of 'apus relay'; nil to grant it nothing.
    ///   - publisherRole: the role of the backend; nil to grant it nothing.
    /// - Returns: SQL for psql, or for any client that runs several statements; it may be run again.
    public static func text(relayRole: String?, publisherRole: String?) -> String {
        var text = String(decoding: PackageResources.outbox_sql + PackageResources.watch_sql, as: UTF8.self)
        if let relayRole {
            text += grants(to: relayRole, relayFunctions)
        }
        if let publisherRole {
            text += grants(
                to: publisherRole,
                ["publish(text, jsonb, text, text, text, timestamptz)", "push(text, text[], jsonb, jsonb)"])
        }
        return text
    }

    private static func grants(to role: String, _ functions: [String]) -> String {
        let name = SQLText.name(role)
        let list = functions.map { "apus_outbox.\($0)" }.joined(separator: ",\n    ")
        return """

            GRANT USAGE ON SCHEMA apus_outbox TO \(name);
            GRANT EXECUTE ON FUNCTION
                \(list)
                TO \(name);

            """
    }
}
