import ChangeEvents
import EventLoop
import JSON
import Notifications
import Predicates
import RegistryCore

/// `apus subscription save`.
struct SubscriptionSaveCommand: Command {
    private static let type = CommandOption.value("type", "RECORD-TYPE", "The type of the records, for example Song.")
    private static let kind = CommandOption.value("kind", "KIND", "query, zone or database. Default: query.")
    private static let database = CommandOption.value(
        "database", "DATABASE", "public, private or shared. Default: public.")
    private static let zone = CommandOption.value("zone", "ZONE", "Only records of this zone.")
    private static let firesOn = CommandOption.value(
        "fires-on", "LIST", "created, updated, deleted, or several separated by commas. Default: all.")
    private static let firesOnce = CommandOption.flag("fires-once", "End the subscription with its first push.")
    private static let alert = CommandOption.value(
        "alert", "TEXT", "The text of the push; {field} is replaced by that field of the record.")
    private static let title = CommandOption.value("title", "TEXT", "The title of the push, with {field} as above.")
    private static let sound = CommandOption.value("sound", "NAME", "The sound of the push, for example default.")
    private static let badge = CommandOption.flag("badge", "Increase the badge on the app's icon.")
    private static let thread = CommandOption.value("thread", "TEXT", "The thread of the push, with {field} as above.")
    private static let notification = CommandOption.value(
        "notification", "JSON", "A whole notificationInfo of CloudKit, instead of the options above.")

    let name = "save"
    let summary = "Save a subscription, or replace it"
    let help = CommandHelp(
        discussion: """
            Saves a subscription under a name, which is the owner's own. Without a text, a title, a
            sound or a badge its pushes are silent. A missing registry is created.
            """,
        examples: [
            .init(
                "apus subscription save mei --app music --user anna --type Song \\\n"
                    + "      --predicate 'artist = \"Mei Chen\" AND price <= 20' --fires-on created \\\n"
                    + "      --alert '{artist}: {title}' --sound default",
                "All of Anna's devices get a push for new songs of Mei Chen."),
            .init(
                "apus subscription save all --app music --device phone-1 --kind database --database private",
                "Is refused: only a user can subscribe to the private database."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options =
        SubscriptionOptions.key + [
            type, SubscriptionOptions.predicate, firesOn, firesOnce, alert, title, sound, badge, thread, notification,
            kind, database, zone, .json,
        ] + CommandOption.configuration
    let operands = Operands.exactly(["SUBSCRIPTION"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let key = try SubscriptionOptions.key(invocation)
        let kind = try choice(Self.kind, SubscriptionKind.query, invocation)
        let subscription = RecordSubscription(
            key: key, kind: kind, database: try choice(Self.database, RecordDatabase.public, invocation),
            zoneName: invocation.string(Self.zone), recordType: invocation.string(Self.type),
            predicate: try SubscriptionOptions.predicate(invocation) ?? .always, firesOn: try firesOn(invocation),
            firesOnce: invocation.has(Self.firesOnce), notification: try notification(invocation),
            savedAtMilliseconds: WallClock.nowMilliseconds())
        try DeviceRegistry.use(invocation, mode: .create) { registry, configuration in
            let row = try registry.save([subscription])[0]
            DeviceRegistry.warnUnlessConfigured([key.app], configuration)
            SubscriptionReport.show(StoredSubscription(row: row, subscription: subscription), to: invocation)
        }
        return .ok
    }

    private func choice<Choice: RawRepresentable & CaseIterable>(
        _ option: CommandOption, _ fallback: Choice, _ invocation: CommandInvocation
    ) throws(CommandFailure) -> Choice where Choice.RawValue == String {
        guard let text = invocation.string(option) else { return fallback }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--\(option.name) takes one of \(names), not '\(text)'")
        }
        return choice
    }

    private func firesOn(_ invocation: CommandInvocation) throws(CommandFailure) -> FiringOperations {
        let names = invocation.strings(Self.firesOn).flatMap { $0.split(separator: ",").map(String.init) }
        if names.isEmpty { return .all }
        guard let operations = FiringOperations(names: names) else {
            throw .usage("--fires-on takes created, updated and deleted, not '\(names.joined(separator: ","))'")
        }
        return operations
    }

    private func notification(_ invocation: CommandInvocation) throws(CommandFailure) -> NotificationInfo {
        let single = [Self.alert, Self.title, Self.sound, Self.thread, Self.badge].filter { invocation.has($0) }
        if let json = invocation.string(Self.notification) {
            guard single.isEmpty else { throw .usage("--notification and --\(single[0].name) exclude each other") }
            do {
                return try NotificationInfo(try JSONParser().parse(Array(json.utf8)), path: "notification")
            } catch let error as EventRejection {
                throw .usage("--notification: \(error.message)")
            } catch {
                throw .usage("--notification is not valid JSON: \(error)")
            }
        }
        var info = NotificationInfo()
        info.alertBody = invocation.string(Self.alert)
        info.title = invocation.string(Self.title)
        info.soundName = invocation.string(Self.sound)
        info.threadID = invocation.string(Self.thread)
        info.shouldBadge = invocation.has(Self.badge)
        return info
    }
}
