public import PushServiceSimulator

/// One message that a simulator of FCM answered.
public struct RecordedMessage: AnswerRecord, Equatable {
    /// When it was answered, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The target; nil if the request had none, or could not be read.
    public var target: MessageTarget?
    /// The name that it was given; nil if it was refused.
    public var name: String?
    /// The data that an Android device gets.
    public var data: [String: String]
    /// `title`, `body` and `image`, as far as they are for all platforms; nil if there is no `notification`.
    public var notification: [String: String]?
    /// `android.collapse_key`.
    public var collapseKey: String?
    /// `android.ttl`, as the request says it, for example `3.5s`.
    public var ttl: String?
    /// `android.priority`: `NORMAL` or `HIGH`.
    public var priority: String?
    /// Whether the request asked only whether the message would be accepted.
    public var isValidateOnly: Bool
    /// The status of the answer.
    public var status: Int
    /// FCM's code, or the name of the refusal; nil if the message was accepted.
    public var reason: String?
    /// Whether a message with the same target and content had been accepted before.
    public var isDuplicate: Bool
    /// Whether it reaches the device later, because too many collapsible messages were on their way to it.
    public var isDelayed: Bool
    /// The body of the request, as far as it was kept.
    public var payload: [UInt8]

    init(_ facts: MessageFacts, payload: [UInt8]) {
        timeMilliseconds = facts.timeMilliseconds
        target = facts.message?.target
        name = facts.name
        data = Self.texts(facts.message?.data ?? [])
        notification = facts.message?.node["notification"].map { Self.texts($0.members) }
        collapseKey = facts.message?.collapseKey
        ttl = facts.message?.ttl
        priority = facts.message?.priority
        isValidateOnly = facts.message?.isValidateOnly ?? false
        status = facts.status
        reason = facts.reason
        isDuplicate = facts.isDuplicate
        isDelayed = facts.isDelayed
        self.payload = payload
    }

    private static func texts(_ members: [GoogleJSON.Member]) -> [String: String] {
        Dictionary(members.map { ($0.name, $0.value.text ?? "") }, uniquingKeysWith: { first, _ in first })
    }
}

/// The facts about one answer, beside the body of the request.
struct MessageFacts {
    /// When it was given, in milliseconds since 1970.
    var timeMilliseconds: Int64
    /// The message; nil if the body could not be read.
    var message: DecodedMessage?
    var status: Int
    var reason: String?
    var name: String?
    var isDuplicate = false
    var isDelayed = false
}

/// Writes a record as one line of JSON; `token`, `status`, `reason`, `duplicate` and `payload` are as in those of APNs.
enum MessageLine {
    /// Appends the line of one answered request.
    ///
    /// - Parameters:
    ///   - facts: the message and the answer.
    ///   - payload: the body, which goes into the line as the JSON that it is; null if it is none.
    ///   - bytes: where the line goes, its line feed included.
    static func append(_ facts: MessageFacts, payload: [UInt8], to bytes: inout [UInt8]) {
        bytes.beginLine(timeMilliseconds: facts.timeMilliseconds)
        append(",\"kind\":", facts.message?.target?.kind.rawValue, to: &bytes)
        append(",\"token\":", facts.message?.target?.value ?? "", to: &bytes)
        append(",\"name\":", facts.name, to: &bytes)
        append(",\"collapse_key\":", facts.message?.collapseKey, to: &bytes)
        append(",\"ttl\":", facts.message?.ttl, to: &bytes)
        append(",\"priority\":", facts.message?.priority, to: &bytes)
        bytes.append(
            text: facts.message?.isValidateOnly == true ? ",\"validate_only\":true" : ",\"validate_only\":false")
        bytes.append(text: ",\"status\":")
        bytes.append(integer: Int64(facts.status))
        append(",\"reason\":", facts.reason, to: &bytes)
        bytes.endLine(
            [",\"duplicate\":": facts.isDuplicate, ",\"delayed\":": facts.isDelayed],
            payload: facts.message == nil ? nil : payload)
    }

    /// Texts of requests are UTF-8, and go into the line as such.
    private static func append(_ name: StaticString, _ text: String?, to bytes: inout [UInt8]) {
        bytes.append(text: name)
        bytes += (text.map { GoogleJSON.string($0).compact } ?? "null").utf8
    }
}
