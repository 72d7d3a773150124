public import Messages

/// Events as publishers write them, in structured JSON, for all tests, loads and benchmarks.
///
/// All values without an argument are valid. A test puts invalid values into `data`, which is inserted unchanged.
public enum TestEvents {
    /// The identity pool of the app.
    public static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"

    /// An event of any type.
    ///
    /// - Parameters:
    ///   - identifier: its `id`.
    ///   - type: its type, with or without the prefix of a publisher.
    ///   - data: the value of `data`, in JSON.
    /// - Returns: a line of JSON.
    public static func event(_ identifier: String, _ type: String, _ data: String) -> String {
        #"{"specversion":"1.0","id":"\#(identifier)","source":"test","type":"\#(type)","data":\#(data)}"#
    }

    /// A change of a dataset.
    ///
    /// - Parameters:
    ///   - identifier: the `id` of the event.
    ///   - identity: the identity that the dataset belongs to.
    ///   - dataset: its name.
    ///   - syncCount: the count after the change.
    ///   - deviceID: the device that made the change, if one did.
    ///   - type: another type of event with the same members.
    /// - Returns: a line of JSON.
    public static func datasetChanged(
        _ identifier: String, identity: String, dataset: String = "notes", syncCount: Int, deviceID: String? = nil,
        type: String = "dataset.changed"
    ) -> String {
        let device = deviceID.map { #","deviceId":"\#($0)""# } ?? ""
        return event(
            identifier, type,
            #"{"identityPoolId":"\#(pool)","identityId":"\#(identity)","datasetName":"\#(dataset)","#
                + #""syncCount":\#(syncCount)\#(device)}"#)
    }

    /// The addressees of a requested push.
    public enum Target: Sendable {
        case devices([String])
        case tokens([String])
        case identities([String])
        case users([String])
        case topic(String)

        fileprivate var member: String {
            func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ",") }
            return switch self {
            case .devices(let names): #""deviceIds":[\#(list(names))]"#
            case .tokens(let names): #""deviceTokens":[\#(list(names))]"#
            case .identities(let names): #""identityIds":[\#(list(names))]"#
            case .users(let names): #""userIds":[\#(list(names))]"#
            case .topic(let name): #""topic":"\#(name)""#
            }
        }
    }

    /// A request for a push.
    ///
    /// - Parameters:
    ///   - identifier: the `id` of the event.
    ///   - target: its audience.
    ///   - app: which app.
    ///   - notification: the content, in JSON.
    ///   - options: how it is sent, in JSON.
    /// - Returns: a line of JSON.
    public static func pushRequested(
        _ identifier: String, to target: Target, app: String = "chat", notification: String = #"{"body":"hello"}"#,
        options: String = "{}"
    ) -> String {
        event(
            identifier, "push.requested",
            #"{"app":"\#(app)",\#(target.member),"notification":\#(notification),"options":\#(options)}"#)
    }

    /// A change of a record.
    ///
    /// - Parameters:
    ///   - identifier: the `id` of the event.
    ///   - operation: `created`, `updated` or `deleted`.
    ///   - type: the record's type.
    ///   - name: the record's name.
    ///   - fields: its fields, in JSON.
    ///   - more: further members of `data`, each after a comma.
    /// - Returns: a line of JSON.
    public static func record(
        _ identifier: String, _ operation: String = "created", type: String = "Song", name: String,
        fields: String = "{}", more: String = ""
    ) -> String {
        event(
            identifier, "com.example.record.\(operation)",
            #"{"recordType":"\#(type)","recordName":"\#(name)","fields":\#(fields)\#(more)}"#)
    }

    /// A message whose body is said to be structured JSON.
    public static func message(_ body: String) -> Message { message(Array(body.utf8)) }

    /// A message whose body, any bytes, is said to be structured JSON.
    public static func message(_ body: [UInt8]) -> Message {
        var message = Message(body: body)
        message.properties.contentType = "application/cloudevents+json"
        return message
    }
}

/// Devices by their numbers, for all tests, loads and benchmarks that register many.
public enum TestDevices {
    /// How a device is called in the registry.
    public static func name(_ index: Int) -> String { "device-\(index)" }

    /// How an identity is called.
    public static func identity(_ index: Int) -> String {
        "us-east-1:00000000-0000-0000-0000-" + digits(index, count: 12)
    }

    /// The digits of a device token, 64 of them.
    ///
    /// - Parameters:
    ///   - index: the number that they end with.
    ///   - filler: the digit that stands before it.
    /// - Returns: the digits.
    public static func token(_ index: Int, filler: Character = "a") -> String {
        String(repeating: filler, count: 56) + digits(index, count: 8)
    }

    /// A line for `apus device import`, of the app `chat`.
    ///
    /// - Parameters:
    ///   - index: the number of the device.
    ///   - token: the digits of its token.
    ///   - isSandbox: whether its token is one of APNs' development environment.
    ///   - members: further members, in JSON.
    /// - Returns: a line of JSON.
    public static func importLine(_ index: Int, token: String, isSandbox: Bool = false, _ members: String) -> String {
        let platform = isSandbox ? "APNS_SANDBOX" : "APNS"
        return #"{"deviceId":"\#(name(index))","platform":"\#(platform)","token":"\#(token)","app":"chat",\#(members)}"#
    }

    /// The members of a device of an identity, for `importLine`.
    ///
    /// - Parameters:
    ///   - identity: the number of the identity.
    ///   - datasets: the datasets that the device follows.
    /// - Returns: members in JSON.
    public static func membership(_ identity: Int, datasets: [String] = ["notes"]) -> String {
        let names = datasets.map { "\"\($0)\"" }.joined(separator: ",")
        return #""identityPoolId":"\#(TestEvents.pool)","identityId":"\#(Self.identity(identity))","#
            + #""datasets":[\#(names)]"#
    }

    private static func digits(_ number: Int, count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
