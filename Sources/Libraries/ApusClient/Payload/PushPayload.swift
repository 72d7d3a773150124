public import Foundation

/// The event that a push tells of.
public enum PushEvent: Hashable, Sendable {
    /// Records of a dataset changed.
    case datasetChanged(DatasetPush)
    /// A dataset was deleted.
    case datasetDeleted(DatasetPush)
    /// Other datasets of the identity were merged into this one. The names are empty if there were too many for a push.
    case datasetsMerged(DatasetPush, mergedDatasetNames: [String])
    /// A record that a subscription matches was created.
    case recordCreated(RecordPush)
    /// A record that a subscription matches was updated.
    case recordUpdated(RecordPush)
    /// A record that a subscription matched was deleted.
    case recordDeleted(RecordPush)
    /// Something in a zone changed.
    case zoneChanged(ChangePush)
    /// Something in a database changed.
    case databaseChanged(ChangePush)
    /// A push that a backend asked for and that is shown, a message of a chat for example; with the app's own members.
    case message(ShownContent, data: [String: PayloadValue])
    /// A silent push that a backend asked for; with the app's own members.
    case data([String: PayloadValue])
}

/// The payload of a push, decoded.
///
/// Two forms are understood: the dictionary from APNs with the members of `aps`, and the flat texts of a message of FCM
/// or ADM, in which `ck` is JSON in a text. Unknown members of `aps` and `ck` are ignored. A push can do without
/// most members: a wrong one is left out, and `problems` tells of it.
///
/// Pushes may come late, twice, in another order, or not at all, and anybody may write to a simulator. So a push is a
/// reason to ask the store, and never the truth itself.
public struct PushPayload: Hashable, Sendable {
    private static let receiptName = "apusReceipt"
    private static let receiptBytesMaximum = 600

    /// The event that it tells of.
    public let event: PushEvent
    /// The content that the system shows, also of a push about a record; nil for a silent one.
    public let shown: ShownContent?
    /// The receipt for `RegistrationClient.reportOpened` when the user opens the push; nil if the push has none.
    public let receipt: String?
    /// The problems of members that have been left out; at most 16.
    public let problems: [PayloadProblem]

    /// Decodes the dictionary that the operating system hands to the app.
    ///
    /// - Parameter userInfo: the dictionary of `didReceiveRemoteNotification`, or `content.userInfo` of a notification;
    ///   also the data of a message of FCM.
    /// - Throws: `PayloadError` if it says that it is about a dataset or a record, and a necessary member is missing or
    ///   wrong.
    public init(userInfo: [AnyHashable: Any]) throws(PayloadError) {
        var reader = FoundationReader()
        let members = reader.object(userInfo: userInfo)
        try self.init(members, &reader)
    }

    /// Decodes the payload as JSON.
    ///
    /// - Parameter json: an object in UTF-8, at most 64 KiB and 32 levels deep.
    /// - Throws: `PayloadError` if it is no such object, or for the reasons above.
    public init(json: Data) throws(PayloadError) {
        var reader = FoundationReader()
        let members = try reader.object(json: json)
        try self.init(members, &reader)
    }

    private init(_ members: [String: PayloadValue], _ reader: inout FoundationReader) throws(PayloadError) {
        let payload = MemberReader(members: members, path: "")
        shown = ShownContent(payload, &reader)
        receipt = payload.extra(Self.receiptName, "a text of 1 to \(Self.receiptBytesMaximum) bytes", &reader) {
            value in
            value.text.flatMap { (1...Self.receiptBytesMaximum).contains($0.utf8.count) ? $0 : nil }
        }
        if let details = try Self.subscriptionDetails(payload, &reader) {
            event = try PushEvent.ofSubscription(details, &reader)
        } else if let dataset = Self.datasetMembers(payload) {
            event = try PushEvent.ofDataset(dataset, &reader)
        } else {
            let data = members.filter { $0.key != "aps" && $0.key != Self.receiptName }
            event = shown.map { .message($0, data: data) } ?? .data(data)
        }
        problems = reader.problems
    }

    /// The dictionary `ck`: an object, or JSON in a text.
    private static func subscriptionDetails(
        _ payload: MemberReader, _ reader: inout FoundationReader
    ) throws(PayloadError) -> MemberReader? {
        guard let text = payload.members["ck"]?.text else { return try payload.object("ck") }
        do {
            return MemberReader(members: try reader.object(json: Data(text.utf8)), path: "ck")
        } catch {
            throw PayloadError(.memberInvalid, PayloadProblem("ck", error.problem.message))
        }
    }

    /// The members for Amazon Cognito Sync's clients: the object `data` from APNs, the payload itself from FCM and ADM.
    private static func datasetMembers(_ payload: MemberReader) -> MemberReader? {
        if let data = payload.members["data"]?.object, data["source"]?.text == DatasetPush.source {
            return MemberReader(members: data, path: "data")
        }
        return payload.members["source"]?.text == DatasetPush.source ? payload : nil
    }
}

extension PushEvent {
    /// The dataset that the push is about; nil if it is about none.
    public var dataset: DatasetName? {
        switch self {
        case .datasetChanged(let push), .datasetDeleted(let push), .datasetsMerged(let push, _): push.dataset
        default: nil
        }
    }

    /// Reads a push about a dataset.
    static func ofDataset(
        _ members: MemberReader, _ problems: inout FoundationReader
    ) throws(PayloadError) -> PushEvent {
        let push = try DatasetPush(members)
        switch members.extraText("change", &problems) {
        case "deleted": return .datasetDeleted(push)
        case "merged":
            let names = members.extra("mergedDatasetNames", "names of datasets with commas between", &problems) {
                value in
                value.text.flatMap { text -> [String]? in
                    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                    return parts.allSatisfy { DatasetPush.datasetName($0) != nil } ? parts : nil
                }
            }
            return .datasetsMerged(push, mergedDatasetNames: names ?? [])
        // A kind of change that is not known yet is a change.
        default: return .datasetChanged(push)
        }
    }
}
