public import ChangeEvents
import Geography
import JSON
public import Notifications
import Predicates

/// The push that a change of a record makes of a subscription.
public struct SubscriptionPush {
    /// The subscription.
    public let subscription: PushedSubscription
    /// The change.
    public let change: RecordChange
    /// The identifier of the container, for the payload: `iCloud.` and the app's bundle identifier.
    public let containerID: String
    /// Names the event in the payload.
    public let notificationID: String

    /// Creates a push.
    public init(
        subscription: PushedSubscription, change: RecordChange, containerID: String, notificationID: String
    ) {
        self.subscription = subscription
        self.change = change
        self.containerID = containerID
        self.notificationID = notificationID
    }

    private var info: NotificationInfo { subscription.notification }

    /// Whether it shows nothing: then several of them for one device are one.
    var isSilent: Bool { !info.isVisible }

    /// Renders the push, leaving out as many parts as APNs' limit requires.
    ///
    /// - Parameters:
    ///   - badge: the number on the app's icon; nil leaves it unchanged.
    ///   - render: renders a notification, or throws if it is too large or breaks a rule.
    /// - Returns: the fullest that can be made, and whether it shows nothing though it should.
    /// - Throws: the error of `render` for the shortest form.
    public func rendered<Content>(
        badge: Int?, _ render: (Notification) throws(EventRejection) -> Content
    ) throws(EventRejection) -> (content: Content, isReduced: Bool) {
        for pruning in NotificationPruning.allCases where pruning < .names {
            guard let content = try? render(notification(badge: badge, pruning: pruning)) else { continue }
            return (content, info.isVisible && pruning >= .display)
        }
        return (try render(notification(badge: badge, pruning: .names)), info.isVisible)
    }

    /// How it is sent: a silent push at low priority; one that neither shows a text nor plays nor badges, too.
    ///
    /// The collapse identifier is the value of the field that the subscription names, if APNs can take it. Else silent
    /// pushes about one record replace each other, and what is shown is replaced by its own copy alone.
    public func options(expirationSeconds: Int64?) -> PushOptions {
        var options = PushOptions(expirationSeconds: expirationSeconds)
        if isSilent { options.priority = .conserving }
        if let path = info.collapseIDKey, let value = change.fields[path] {
            options.collapseID = DerivedCollapseID.ofText(NotificationText.value(of: value))
        }
        let subscriptionID = subscription.key.subscriptionID
        if options.collapseID == nil {
            options.replacementID =
                isSilent
                ? DerivedCollapseID.ofRecord([
                    "\(change.database.cloudKitNumber)", change.ownerID ?? "", change.zoneName, change.recordType,
                    change.recordName, subscriptionID,
                ])
                : DerivedCollapseID.ofEvent(notificationID, of: subscriptionID)
        }
        return options
    }

    func notification(badge: Int?, pruning: NotificationPruning) -> Notification {
        var notification = Notification()
        notification.customData = [CustomDatum(key: "ck", value: RawJSON(validated: details(pruning)))]
        let showsNothing = isSilent || pruning >= .display
        notification.isContentAvailable = info.shouldSendContentAvailable || showsNothing
        guard !showsNothing else { return notification }
        setTexts(&notification, pruning)
        notification.isContentMutable = info.shouldSendMutableContent && info.showsText
        notification.badge = info.shouldBadge ? badge : nil
        notification.category = info.category
        notification.threadID = info.threadID.map { text($0, pruning) }
        // The push exists only for the sound.
        notification.sound = pruning < .sound || info.hasOnlySound ? info.soundName.map { .named($0) } : nil
        notification.launchImage = pruning < .launchImage ? info.alertLaunchImage : nil
        notification.actionLocalizationKey = pruning < .action ? info.alertActionLocalizationKey : nil
        return notification
    }

    private func setTexts(_ notification: inout Notification, _ pruning: NotificationPruning) {
        notification.localizedTitle = localized(info.localizedTitle, pruning)
        notification.localizedSubtitle = localized(info.localizedSubtitle, pruning)
        notification.localizedBody = localized(info.localizedAlert, pruning)
        if notification.localizedTitle == nil { notification.title = info.title.map { text($0, pruning) } }
        if notification.localizedSubtitle == nil { notification.subtitle = info.subtitle.map { text($0, pruning) } }
        if notification.localizedBody == nil { notification.body = info.alertBody.map { text($0, pruning) } }
    }

    private func text(_ text: String, _ pruning: NotificationPruning) -> String {
        shortened(NotificationText.filled(text, with: change.fields), pruning)
    }

    private func localized(
        _ text: NotificationInfo.LocalizedText?, _ pruning: NotificationPruning
    ) -> Notification.LocalizedText? {
        text.map { text in
            let arguments = NotificationText.arguments(text.argumentFields, change.fields)
            return Notification.LocalizedText(key: text.key, arguments: arguments.map { shortened($0, pruning) })
        }
    }

    private func shortened(_ text: String, _ pruning: NotificationPruning) -> String {
        guard let charactersMaximum = pruning.charactersMaximum else { return text }
        return NotificationText.shortened(text, charactersMaximum: charactersMaximum)
    }

    // MARK: The dictionary `ck`

    /// The dictionary for `CKNotification`, undocumented by Apple; its keys are those that apps and readers expect.
    private func details(_ pruning: NotificationPruning) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("ce")
        writer.integer(2)
        writer.key("cid")
        writer.string(containerID)
        if case .user(let user) = subscription.key.owner, pruning < .zone {
            // The source of `CKNotification.subscriptionOwnerUserRecordID`: the owner of the subscription.
            writer.key("ckuserid")
            writer.string(user)
        }
        writer.key("nid")
        writer.string(notificationID)
        if pruning > .nothing {
            writer.key("p")
            writer.integer(1)
        }
        switch subscription.kind {
        case .query: writeQuery(to: &writer, pruning)
        case .zone:
            writer.key("fet")
            writer.beginObject()
            writeSubscription(to: &writer, pruning)
            if pruning < .names {
                writer.key("zid")
                writer.string(change.zoneName)
            }
            if pruning < .zone { writeZoneOwner(to: &writer) }
            writer.endObject()
        case .database:
            writer.key("met")
            writer.beginObject()
            writeSubscription(to: &writer, pruning)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    private func writeQuery(to writer: inout JSONWriter, _ pruning: NotificationPruning) {
        writer.key("qry")
        writer.beginObject()
        writeSubscription(to: &writer, pruning)
        writer.key("fo")
        writer.integer(change.operation.cloudKitReason)
        if pruning < .names {
            writer.key("rid")
            writer.string(change.recordName)
        }
        if pruning < .zone {
            writer.key("zid")
            writer.string(change.zoneName)
            writeZoneOwner(to: &writer)
        }
        if !info.additionalFields.isEmpty, pruning < .additionalFields {
            writer.key("af")
            writer.beginObject()
            for path in info.additionalFields {
                guard let value = change.fields[path] else { continue }
                writer.key(dynamic: path)
                Self.write(value, to: &writer)
            }
            writer.endObject()
        }
        writer.endObject()
    }

    private func writeSubscription(to writer: inout JSONWriter, _ pruning: NotificationPruning) {
        writer.key("dbs")
        writer.integer(subscription.database.cloudKitNumber)
        guard pruning < .names else { return }
        writer.key("sid")
        writer.string(subscription.key.subscriptionID)
    }

    private func writeZoneOwner(to writer: inout JSONWriter) {
        writer.key("zoid")
        writer.string(change.ownerID ?? "_defaultOwner")
    }

    private static func write(_ value: FieldValue, to writer: inout JSONWriter) {
        switch value {
        case .integer(let number): writer.integer(number)
        case .date(let milliseconds): writer.integer(milliseconds)
        case .double(let number) where number.isFinite: writer.double(number)
        case .boolean(let flag): writer.boolean(flag)
        case .location(let place):
            writer.beginObject()
            writer.key("latitude")
            writer.double(place.latitude)
            writer.key("longitude")
            writer.double(place.longitude)
            writer.endObject()
        default:
            writer.string(String(NotificationText.value(of: value).prefix(NotificationText.valueCharactersMaximum)))
        }
    }
}

/// How much a push of a subscription has left out to fit into APNs' limit; each step leaves out more.
///
/// The order is that of Apple's documentation of `CKQueryNotification.isPruned`, which names the desired keys first;
/// then come the parts without which the text can still be read, then the text itself, of which the beginning stays,
/// and the zone of the record. Any step marks the payload (`ck.p`), so that the app fetches the record.
///
/// A subscription is only saved if `zone` fits for every record (`NotificationInfo.checkSize`). The last two steps are
/// for rows that somebody edited and for rules that changed: they show nothing, and always fit.
enum NotificationPruning: Int, CaseIterable, Comparable {
    case nothing
    case additionalFields
    case sound
    case launchImage
    case action
    case longTexts
    case texts
    case zone
    case display
    case names

    /// How many characters are left of each text.
    var charactersMaximum: Int? {
        switch self {
        case .nothing, .additionalFields, .sound, .launchImage, .action: nil
        case .longTexts: 300
        case .texts, .zone, .display, .names: 40
        }
    }

    static func < (left: NotificationPruning, right: NotificationPruning) -> Bool { left.rawValue < right.rawValue }
}
