import Relay

/// `apus relay trigger`.
struct RelayTriggerCommand: Command {
    private static let table = CommandOption.value(
        "table", "TABLE", "The table as SQL writes it, for example songs or shop.\"Order Lines\".", isRequired: true)
    private static let recordType = CommandOption.value(
        "record-type", "TYPE", "The type of its records, for example Song. Needed without --remove.")
    private static let columns = CommandOption.value(
        "columns", "NAMES", "The fields, separated by commas. Default: all columns of today.")
    private static let key = CommandOption.value(
        "key", "NAMES", "The columns that name a record. Default: the primary key.")
    private static let zone = CommandOption.value("zone", "ZONE", "The zone of its records. Default: none.")
    private static let app = CommandOption.value("app", "APP", "Tell subscribers of this app only. Default: all.")
    private static let remove = CommandOption.flag("remove", "Print what ends the events of the table.")

    let name = "trigger"
    let summary = "Print the SQL that makes changes of a table events"
    let help = CommandHelp(
        discussion: """
            Prints SQL that makes triggers: each INSERT, UPDATE and DELETE of a row writes
            record.created, record.updated or record.deleted into the outbox of 'apus relay sql', in
            the same transaction. Run it as the owner of the outbox; the last run counts. Names of
            columns are those of the catalog, to the letter.

            An UPDATE that changes no field writes nothing; one that changes the key is a
            record.deleted and a record.created. A column whose type no event carries is refused
            now, a value that is too large when it is written. TRUNCATE is refused.
            """,
        examples: [
            .init(
                "apus relay trigger --table songs --record-type Song | psql shop",
                "Tells those who subscribed to songs of every change."),
            .init("apus relay trigger --table songs --remove | psql shop", "Tells them no more."),
        ],
        exitCodes: []
    )
    let options = [table, recordType, columns, key, zone, app, remove]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let table = try invocation.required(Self.table)
        if invocation.has(Self.remove) {
            let others = [Self.recordType, Self.columns, Self.key, Self.zone, Self.app]
            if let other = others.first(where: invocation.has) {
                throw CommandFailure.usage("--remove needs no --\(other.name)")
            }
            invocation.output.write(WatchSQL.removal(ofTable: table))
            return .ok
        }
        let sql = WatchSQL(
            table: table, recordType: try invocation.required(Self.recordType),
            columns: names(Self.columns, invocation), key: names(Self.key, invocation),
            zone: invocation.string(Self.zone), app: invocation.string(Self.app))
        invocation.output.write(sql.text)
        return .ok
    }

    private func names(_ option: CommandOption, _ invocation: CommandInvocation) -> [String]? {
        invocation.string(option)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
