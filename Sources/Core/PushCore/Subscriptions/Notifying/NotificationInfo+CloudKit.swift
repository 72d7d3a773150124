public import JSON
public import Notifications

extension NotificationInfo {
    /// The native framework's name of `additionalFields`, which some clients write.
    private static let desiredKeys: StaticString = "desiredKeys"

    /// Reads the dictionary of a client of CloudKit Web Services.
    ///
    /// What Apple passes over is passed over: texts that are empty, and the arguments of a text that has no key, which
    /// say nothing. A member that nobody knows is refused, because a push without it says something else than the
    /// client wanted. `desiredKeys` is another name of `additionalFields`.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - path: what messages call it.
    /// - Throws: `EventRejection` with `invalidField` or `unknownField`.
    public init(cloudKit value: JSONValue, path: String = "notificationInfo") throws(EventRejection) {
        let fields = try FieldReader(value, path: path)
        try fields.allowOnly(
            MemberNames(Self.members.names + [Self.desiredKeys], advice: Self.members.advice))
        try self.init(value, path: path, isLenient: true)
        guard let keys = try fields.texts(Self.desiredKeys) else { return }
        let given = fields.value("additionalFields") == nil ? keys : additionalFields
        guard keys.count == given.count, zip(keys, given).allSatisfy({ $0.utf8.elementsEqual($1.utf8) }) else {
            throw EventRejection(
                .invalidField,
                "\(path) has additionalFields and desiredKeys, which differ; they mean the same, so give one of them")
        }
        additionalFields = keys
    }
}
