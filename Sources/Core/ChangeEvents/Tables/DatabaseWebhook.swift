internal import JSON
import Notifications

/// What a webhook of a Supabase database sends for a change of a row: `type`, `schema`, `table`, `record` and
/// `old_record` (Supabase, "Database Webhooks").
struct DatabaseWebhook {
    /// The change of the row.
    let change: TableChange

    /// Recognises a webhook's body; nil if the document is none.
    ///
    /// - Throws: `EventRejection`, if it has no row.
    init?(_ body: JSONValue) throws(EventRejection) {
        guard let object = body.object, object["record"] != nil || object["old_record"] != nil,
            let table = object["table"]?.string, let type = object["type"],
            let (change, member) = Self.change(type)
        else { return nil }
        let reader = FieldReader(object, path: "the webhook")
        guard let row = try reader.reader(member) else { throw reader.missing(member, "the row") }
        self.change = TableChange(
            table: TableName(schema: object["schema"]?.string, table: table), change: change, row: row,
            schema: RowSchema())
    }

    private static func change(_ type: JSONValue) -> (TableSource.Change, StaticString)? {
        if type.isString("INSERT") { return (.created, "record") }
        if type.isString("UPDATE") { return (.updated, "record") }
        return type.isString("DELETE") ? (.deleted, "old_record") : nil
    }
}
