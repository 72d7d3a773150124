import ChangeEvents
import JSON
import Notifications
import RegistryAPI
import RegistryCore

/// Understands one line of an import.
enum DeviceLine {
    /// Reads a device and its subscriptions.
    ///
    /// An unknown member is refused: a misspelt name would otherwise silently leave a device without its identity.
    ///
    /// - Parameters:
    ///   - bytes: the line.
    ///   - parser: reads it.
    ///   - now: when the device was registered if the line does not say, in milliseconds since 1970.
    ///   - courierKey: tells which tokens are those of `WEB` clients; nil to believe the line.
    /// - Returns: the device.
    /// - Throws: `DeviceLineProblem`.
    static func parse(
        _ bytes: ArraySlice<UInt8>, parser: JSONParser, now: Int64, courierKey: CourierKey?
    ) throws(DeviceLineProblem) -> DeviceRegistration {
        var reader = DeviceLineMembers()
        do throws(JSONError) {
            let root = try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try parser.parse(bytes) }
            reader.object = root.object
        } catch {
            throw DeviceLineProblem("not JSON: \(error)")
        }
        guard let object = reader.object else { throw DeviceLineProblem("not a JSON object") }
        for member in object where !DeviceLineMembers.names.contains(member.key) {
            throw DeviceLineProblem(
                "unknown member \"\(member.key.prefix(40))\"; "
                    + SpellingSuggestion.advice(about: member.key, among: DeviceLineMembers.names))
        }
        let registration = try reader.registration(now: now, courierKey: courierKey)
        do throws(RegistryError) {
            try RegistryRules.check(registration)
        } catch {
            throw DeviceLineProblem(error.message)
        }
        return registration
    }
}

/// Reads the members of one line's object, each with its type checked.
struct DeviceLineMembers {
    /// The members that there are.
    static let names = [
        "deviceId", "platform", "token", "target", "subscription", "app", "identityPoolId", "identityId", "userId",
        "registeredAt", "datasets", "topics", "tokens",
    ]

    /// The object.
    var object: JSONObject?

    /// Puts the device together.
    func registration(now: Int64, courierKey: CourierKey?) throws(DeviceLineProblem) -> DeviceRegistration {
        let platformName = try required("platform")
        guard let platform = Platform(rawValue: platformName) else {
            let names = Platform.allCases.map(\.rawValue).joined(separator: ", ")
            throw DeviceLineProblem("\"platform\" must be one of \(names), not \"\(platformName.prefix(40))\"")
        }
        let token = try address(platform, now: now)
        if let courierKey, let problem = PlatformToken.problem(of: token, platform: platform, key: courierKey) {
            throw DeviceLineProblem("\"token\" does not fit \"platform\": \(problem)")
        }
        let device = Device(
            deviceID: try required("deviceId"), platform: platform, token: token, app: try required("app"),
            identityPoolID: try string("identityPoolId"), identityID: try string("identityId"),
            userID: try string("userId"), registeredAtMilliseconds: try integer("registeredAt") ?? now)
        return DeviceRegistration(
            device: device, datasetNames: try strings("datasets"), topics: try strings("topics"), tokens: try tokens())
    }

    /// The members `token` and `target`, or `subscription`.
    private func address(_ platform: Platform, now: Int64) throws(DeviceLineProblem) -> DeviceToken {
        let others: [StaticString] = platform == .webPush ? ["token", "target"] : ["subscription"]
        for name in others where value(name) != nil {
            throw DeviceLineProblem(
                "\"\(name)\" is not for \(platform.rawValue): lines of WEB_PUSH have a \"subscription\", all others a "
                    + "\"token\"")
        }
        guard platform == .webPush else {
            let (text, target) = (try required("token"), try string("target"))
            return try naming("token") { () throws(PlatformTokenError) in
                try DeviceTokenText.read(text, platform: platform, target: target)
            }
        }
        guard let value = value("subscription") else { throw DeviceLineProblem("\"subscription\" is missing") }
        return try naming("subscription") { () throws(PlatformTokenError) in
            try PushSubscription(value).token(nowMilliseconds: now)
        }
    }

    private func naming<Value>(
        _ member: StaticString, _ body: () throws(PlatformTokenError) -> Value
    ) throws(DeviceLineProblem) -> Value {
        do throws(PlatformTokenError) {
            return try body()
        } catch {
            throw DeviceLineProblem("\"\(member)\" is invalid: \(error.message)")
        }
    }

    /// The member `tokens`: an object of digits by kind.
    private func tokens() throws(DeviceLineProblem) -> [TokenKind: DeviceToken] {
        guard let value = value("tokens") else { return [:] }
        guard let object = value.object else {
            throw DeviceLineProblem("\"tokens\" must be an object, not \(value.kind.rawValue)")
        }
        var tokens: [TokenKind: DeviceToken] = [:]
        for member in object {
            guard let kind = TokenKind(rawValue: String(member.key)), kind != .alert else {
                let kinds = TokenKind.further.map(\.rawValue).joined(separator: ", ")
                throw DeviceLineProblem("\"tokens\" has \"\(member.key.prefix(40))\"; kinds are \(kinds)")
            }
            guard let token = member.value.string.flatMap({ DeviceToken(hexadecimal: $0) }) else {
                throw DeviceLineProblem(
                    "\"tokens.\(kind.rawValue)\" must be an even number of hexadecimal digits, 2 to "
                        + "\(2 * DeviceToken.bytesMaximum)")
            }
            tokens[kind] = token
        }
        return tokens
    }

    private func value(_ name: StaticString) -> JSONValue? {
        guard let value = object?[name], !value.isNull else { return nil }
        return value
    }

    private func required(_ name: StaticString) throws(DeviceLineProblem) -> String {
        guard let text = try string(name) else { throw DeviceLineProblem("\"\(name)\" is missing") }
        return text
    }

    private func string(_ name: StaticString) throws(DeviceLineProblem) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else {
            throw DeviceLineProblem("\"\(name)\" must be a string, not \(value.kind.rawValue)")
        }
        return text
    }

    private func integer(_ name: StaticString) throws(DeviceLineProblem) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let number = value.int64, number >= 0 else {
            throw DeviceLineProblem("\"\(name)\" must be a whole number of milliseconds since 1970")
        }
        return number
    }

    private func strings(_ name: StaticString) throws(DeviceLineProblem) -> [String] {
        guard let value = value(name) else { return [] }
        guard let array = value.array else {
            throw DeviceLineProblem("\"\(name)\" must be an array of strings, not \(value.kind.rawValue)")
        }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else {
                throw DeviceLineProblem("\"\(name)\" has an entry that is not a string")
            }
            texts.append(text)
        }
        return texts
    }
}

/// The problem of a line of an import.
struct DeviceLineProblem: Error {
    /// The problem and the expected value; never a whole token.
    let message: String

    /// Creates a problem.
    init(_ message: String) {
        self.message = message
    }
}
