import ChangeEvents
internal import JSON
import Notifications
import Predicates

/// The largest that the pushes of a subscription can be.
extension SubscriptionPush {
    /// The longest bundle identifier that a configuration may have, in bytes.
    static let bundleIDBytesMaximum = 255
    /// A character that takes six bytes as JSON, more than any other of a byte.
    private static let widest = "\u{1}"

    /// Checks that a push which still shows its texts fits into APNs' limit, for every record.
    ///
    /// - Throws: `RegistryError` with `.invalid`, which says how large it can become and what makes it so.
    static func checkSize(of subscription: RecordSubscription) throws(RegistryError) {
        var builder = PayloadBuilder()
        let bytes = builder.payload(of: worst(of: subscription)).count
        let limit = PushType.alert.payloadBytesMaximum
        guard bytes > limit else { return }
        let parts = subscription.notification.fixedParts.sorted { $0.bytes > $1.bytes }
        let largest = parts.prefix(3).map { "\($0.name) (\($0.bytes))" }.joined(separator: ", ")
        throw RegistryError(
            .invalid,
            "A push of the subscription \"\(subscription.key.subscriptionID.prefix(40))\" can take \(bytes) bytes as"
                + " JSON after every text and value is cut; APNs takes at most \(limit). Shorten the fixed texts, or"
                + " name fewer fields as arguments. The most bytes are in \(largest).")
    }

    /// The largest notification that still shows what it should: texts and values at their longest cut form, names of
    /// the record and of the app at their longest.
    private static func worst(of subscription: RecordSubscription) -> Notification {
        var subscription = subscription
        // More than any cut leaves of it.
        let text = String(repeating: widest, count: 1_024)
        subscription.notification.replacePlaceholders(with: text)
        var fields = RecordFields()
        for path in subscription.notification.argumentFields { fields[path] = .string(text) }
        let name = String(repeating: widest, count: EventLimits.nameBytesMaximum)
        let push = SubscriptionPush(
            subscription: PushedSubscription(subscription, row: 0),
            change: RecordChange(
                operation: .updated, recordType: name, recordName: name, fields: fields, zoneName: name, ownerID: name),
            containerID: String(repeating: "x", count: "iCloud.".utf8.count + bundleIDBytesMaximum),
            notificationID: EventDigest(source: "", identifier: "").uuid)
        return push.notification(badge: SubscriptionRules.badgeMaximum, pruning: .zone)
    }
}

extension NotificationInfo {
    /// The fields whose values are arguments of texts.
    fileprivate var argumentFields: [String] {
        [localizedAlert, localizedTitle, localizedSubtitle].flatMap { $0?.argumentFields ?? [] }
    }

    /// Puts a text in place of each text that depends on the record.
    fileprivate mutating func replacePlaceholders(with text: String) {
        for path in [\NotificationInfo.title, \.subtitle, \.alertBody, \.threadID] {
            guard self[keyPath: path]?.utf8.contains(where: NotificationText.isBrace) == true else { continue }
            self[keyPath: path] = text
        }
    }

    /// The parts that are never cut, in bytes as JSON, by the name of the member.
    fileprivate var fixedParts: [(name: String, bytes: Int)] {
        let texts = [
            ("alertLocalizationKey", localizedAlert?.key), ("titleLocalizationKey", localizedTitle?.key),
            ("subtitleLocalizationKey", localizedSubtitle?.key), ("category", category),
            ("soundName", hasOnlySound ? soundName : nil),
        ]
        let arguments = [
            ("alertLocalizationArgs", localizedAlert), ("titleLocalizationArgs", localizedTitle),
            ("subtitleLocalizationArgs", localizedSubtitle),
        ]
        let longest = NotificationPruning.zone.charactersMaximum.map { $0 * 4 + 2 } ?? 0
        return texts.map { ($0.0, $0.1.map { JSONWriter.bytes(of: $0) } ?? 0) }
            + arguments.map { ($0.0, ($0.1?.argumentFields.count ?? 0) * longest) }
    }
}
