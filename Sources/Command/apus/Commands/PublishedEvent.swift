import Essentials
import JSON

/// Writes the CloudEvent that the options of `apus publish` describe.
enum PublishedEvent {
    private static let type = CommandOption.value(
        "type", "TYPE",
        "dataset.changed, dataset.deleted, datasets.merged, record.created, record.updated, record.deleted or "
            + "push.requested.")
    private static let identifier = CommandOption.value("id", "ID", "The event's identifier. Default: a random UUID.")
    private static let source = CommandOption.value("source", "URI", "The event's source. Default: apus-publish.")
    private static let identityPool = CommandOption.value("identity-pool", "ID", "Dataset: the identity pool.")
    private static let identity = CommandOption.value("identity", "ID", "Dataset: the identity.")
    private static let dataset = CommandOption.value("dataset", "NAME", "Dataset: its name.")
    private static let syncCount = CommandOption.value("sync-count", "COUNT", "Dataset: its sync count.")
    private static let merged = CommandOption.value(
        "merged", "NAME", "Dataset: the name of a merged dataset. Repeatable.")
    private static let deviceID = CommandOption.value(
        "device-id", "ID", "Dataset, record: the device that made the change. Push: a target. Repeatable.")
    private static let app = CommandOption.value("app", "NAME", "Push, record: the app, as the configuration names it.")
    private static let deviceToken = CommandOption.value(
        "device-token", "HEX", "Push: a target, by its APNs token. Repeatable.")
    private static let identityID = CommandOption.value("identity-id", "ID", "Push: a target. Repeatable.")
    private static let userID = CommandOption.value("user-id", "ID", "Push: a target. Repeatable.")
    private static let topic = CommandOption.value("topic", "NAME", "Push: the target, by its topic.")
    private static let title = CommandOption.value("title", "TEXT", "Push: the title.")
    private static let text = CommandOption.value("body", "TEXT", "Push: the text.")
    private static let badge = CommandOption.value("badge", "COUNT", "Push: the badge; 0 clears it.")
    private static let sound = CommandOption.value("sound", "NAME", "Push: the sound, for example default.")
    private static let pushType = CommandOption.value("push-type", "TYPE", "Push: alert, background and so on.")
    private static let priority = CommandOption.value("priority", "NUMBER", "Push: 10, 5 or 1.")
    private static let collapseID = CommandOption.value(
        "collapse-id", "ID", "Push: the collapse identifier.")
    private static let expiration = CommandOption.value(
        "expiration", "SECONDS", "Push: the time when it expires, in Unix seconds.")

    private static let recordType = CommandOption.value("record-type", "TYPE", "Record: its type, for example Song.")
    private static let recordName = CommandOption.value("record-name", "NAME", "Record: its name.")
    private static let field = CommandOption.value(
        "field", "NAME=VALUE", "Record: a field; a JSON value is taken as JSON, any other value as text. Repeatable.")
    private static let database = CommandOption.value(
        "database", "DATABASE", "Record: public, private or shared. Default: public.")
    private static let owner = CommandOption.value("owner", "USER", "Record: the user who owns the database.")
    private static let zone = CommandOption.value("zone", "NAME", "Record: its zone. Default: _defaultZone.")

    private static let common = [type, identifier, source]
    private static let datasetOptions = [identityPool, identity, dataset, syncCount, merged, deviceID]
    private static let recordOptions = [recordType, recordName, field, database, owner, zone, app, deviceID]
    private static let pushOptions = [
        app, deviceToken, deviceID, identityID, userID, topic, title, text, badge, sound, pushType, priority,
        collapseID, expiration,
    ]

    /// The options, in the order in which the help shows them.
    static let options =
        common + datasetOptions + [recordType, recordName, field, database, owner, zone]
        + pushOptions.filter { $0.name != deviceID.name }

    /// Refuses options that describe an event beside `--file`, which brings its own.
    static func checkAbsence(_ invocation: CommandInvocation) throws(CommandFailure) {
        guard let option = options.first(where: { invocation.has($0) }) else { return }
        throw .usage("--\(option.name) describes one event, but --file has its own events; omit one of them")
    }

    /// The event, as structured JSON; whether it makes sense is for the decoder to say.
    static func body(_ invocation: CommandInvocation) throws(CommandFailure) -> [UInt8] {
        guard let name = invocation.string(type) else {
            throw .usage("give --type TYPE to publish one event, or --file FILE to publish many")
        }
        let isPush = name.hasSuffix("push.requested")
        let isRecord = !isPush && name.split(separator: ".").dropLast().last == "record"
        try checkOptions(invocation, of: name, isPush ? pushOptions : isRecord ? recordOptions : datasetOptions)
        let event: Report = [
            "specversion": "1.0", "type": name, "source": invocation.string(source) ?? "apus-publish",
            "id": invocation.string(identifier) ?? RandomIdentifier.uuid(),
            "data": isPush ? try push(invocation) : isRecord ? try record(invocation) : try dataset(invocation),
        ]
        return event.json
    }

    /// Refuses options that other types of events have: they would say nothing.
    private static func checkOptions(
        _ invocation: CommandInvocation, of type: String, _ known: [CommandOption]
    ) throws(CommandFailure) {
        let others = options.filter { option in !(common + known).contains { $0.name == option.name } }
        guard let option = others.first(where: { invocation.has($0) }) else { return }
        throw .usage("--\(option.name) does not go with --type \(type)")
    }

    private static func record(_ invocation: CommandInvocation) throws(CommandFailure) -> Report {
        var fields: [Report.Field] = []
        var names: Set<String> = []
        for text in invocation.strings(field) {
            guard let end = text.firstIndex(of: "="), end > text.startIndex else {
                throw .usage("--field takes NAME=VALUE, not '\(text)'")
            }
            let name = String(text[..<end])
            guard names.insert(name).inserted else { throw .usage("--field \(name) is given twice") }
            let value = String(text[text.index(after: end)...])
            let json = try? JSONParser().parse(Array(value.utf8))
            fields.append(.init(name, json.map { Report.Raw($0.minified) } ?? value))
        }
        return [
            "recordType": invocation.string(recordType), "recordName": invocation.string(recordName),
            "database": invocation.string(database), "ownerId": invocation.string(owner),
            "zoneName": invocation.string(zone), "app": invocation.string(app),
            "deviceId": invocation.string(deviceID), "fields": Report(fields),
        ]
    }

    private static func dataset(_ invocation: CommandInvocation) throws(CommandFailure) -> Report {
        [
            "identityPoolId": invocation.string(identityPool), "identityId": invocation.string(identity),
            "datasetName": invocation.string(dataset),
            "syncCount": try invocation.integer(syncCount, in: 0...Int.max),
            "mergedDatasetNames": list(merged, invocation), "deviceId": invocation.string(deviceID),
        ]
    }

    private static func push(_ invocation: CommandInvocation) throws(CommandFailure) -> Report {
        let notification: Report = [
            "title": invocation.string(title), "body": invocation.string(text), "sound": invocation.string(sound),
            "badge": try invocation.integer(badge, in: 0...Int(Int32.max)),
        ]
        let options: Report = [
            "pushType": invocation.string(pushType), "collapseId": invocation.string(collapseID),
            "priority": try invocation.integer(priority, in: 1...10),
            "expiration": try invocation.integer(expiration, in: 0...Int(Int32.max) * 4),
        ]
        return [
            "app": invocation.string(app), "topic": invocation.string(topic),
            "deviceTokens": list(deviceToken, invocation), "deviceIds": list(deviceID, invocation),
            "identityIds": list(identityID, invocation), "userIds": list(userID, invocation),
            "notification": notification, "options": options,
        ]
    }

    /// The values of an option; nil if there are none.
    private static func list(_ option: CommandOption, _ invocation: CommandInvocation) -> [String]? {
        invocation.has(option) ? invocation.strings(option) : nil
    }
}
