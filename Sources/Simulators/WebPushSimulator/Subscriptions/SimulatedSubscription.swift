import JSON

/// A subscription that a simulator made, as a browser hands it to its application.
public struct SimulatedSubscription: Sendable, Hashable {
    /// Its name in records, scripts and faults: that of the origin, a hyphen, and seven digits from `0000000` on.
    public let id: String
    /// The address that pushes go to; it is a secret.
    public let endpoint: String
    /// The public key of the browser in base64url: 65 bytes.
    public let p256dh: String
    /// The authentication secret in base64url: 16 bytes.
    public let auth: String

    /// The subscription as `PushSubscription.toJSON()` returns it (W3C Push API §8).
    public var json: String {
        #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    }

    /// A line of `apus devices import`: the subscription as a device, whose `deviceId` is its name.
    ///
    /// - Parameters:
    ///   - app: the name of the app.
    ///   - further: further members, in their order, for example `userId`.
    /// - Returns: a JSON object without a line feed.
    public func deviceLine(app: String, _ further: KeyValuePairs<String, String> = [:]) -> String {
        var writer = JSONWriter(capacityBytes: 1_024)
        writer.beginObject()
        writer.member("deviceId", id)
        writer.member("platform", "WEB_PUSH")
        writer.member("app", app)
        for (name, value) in further { writer.member(dynamic: name, value) }
        writer.key("subscription")
        writer.raw(json.utf8)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
