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
        var writer = JSONWriter(capacityBytes: 512)
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
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
        writer.key("deviceId")
        writer.string(id)
        writer.key("platform")
        writer.string("WEB_PUSH")
        writer.key("app")
        writer.string(app)
        for (name, value) in further {
            writer.key(dynamic: name)
            writer.string(value)
        }
        writer.key("subscription")
        write(to: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("endpoint")
        writer.string(endpoint)
        writer.key("expirationTime")
        writer.null()
        writer.key("keys")
        writer.beginObject()
        writer.key("p256dh")
        writer.string(p256dh)
        writer.key("auth")
        writer.string(auth)
        writer.endObject()
        writer.endObject()
    }
}
