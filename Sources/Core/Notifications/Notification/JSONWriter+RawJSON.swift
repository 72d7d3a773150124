internal import JSON

/// Members that the builders of all push services write.
extension JSONWriter {
    /// Writes a member whose value is JSON already; nothing for nil.
    mutating func member(_ key: StaticString, _ value: RawJSON?) {
        guard let value else { return }
        self.key(key)
        raw(value.bytes)
    }

    /// Writes a localized text: its key, and its arguments if there are any; nothing for nil.
    mutating func members(_ key: StaticString, _ argumentsKey: StaticString, _ text: Notification.LocalizedText?) {
        guard let text else { return }
        member(key, text.key)
        if !text.arguments.isEmpty { array(argumentsKey, texts: text.arguments) }
    }

    /// Writes JSON as a text: a text as it is, any other value as the text of its JSON.
    mutating func text(of value: RawJSON) {
        if value.bytes.first == UInt8(ascii: "\"") {
            raw(value.bytes)
        } else {
            value.bytes.withUnsafeBufferPointer { string(utf8: $0) }
        }
    }
}

extension DatasetChange {
    /// The most bytes of merged names that a push carries; with more it names none, and the device asks its store.
    static let mergedNamesBytesMaximum = 3_000

    /// The texts for a client of Amazon Cognito Sync, in the order in which Amazon documents them.
    ///
    /// `syncCount` is in decimal digits, because Amazon's client for Android reads a text (`PushSyncUpdate`,
    /// `Long.parseLong`). An event without a count has none. Amazon's clients ignore the texts of `kindTexts`.
    var pushSyncTexts: [(key: StaticString, value: String)] {
        var texts: [(key: StaticString, value: String)] = [
            ("source", "cognito-sync"), ("identityPoolId", key.identityPoolID), ("identityId", key.identityID),
            ("datasetName", key.datasetName),
        ]
        if let syncCount { texts.append(("syncCount", String(syncCount))) }
        return texts + kindTexts
    }

    /// The texts that tell a deletion and a merge from a change of records; empty for the latter.
    ///
    /// Names of datasets have no comma (`[a-zA-Z0-9_.:-]`), so it separates them.
    var kindTexts: [(key: StaticString, value: String)] {
        switch operation {
        case .changed: return []
        case .deleted: return [("change", "deleted")]
        case .merged(let names):
            let joined = names.joined(separator: ",")
            guard joined.utf8.count <= Self.mergedNamesBytesMaximum else { return [("change", "merged")] }
            return [("change", "merged"), ("mergedDatasetNames", joined)]
        }
    }
}

extension PushService {
    /// The type of a push to this service, which has none of Apple's special kinds.
    ///
    /// - Throws: `EventRejection` with `invalidNotification` if the push is of such a kind.
    func ordinaryPushType(of notification: Notification, _ options: PushOptions) throws(EventRejection) -> PushType {
        let pushType = options.pushType ?? NotificationRules.pushType(of: notification)
        guard pushType.tokenKind == .alert, pushType != .mdm else {
            throw EventRejection(
                .invalidNotification,
                "\(title) has no \(pushType.rawValue) pushes; name devices of Apple only, or send an alert")
        }
        return pushType
    }
}
