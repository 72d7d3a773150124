import Essentials
import JSON
import Notifications
import RegistryAPI
import RegistryCore

/// Shows devices and their subscriptions, as text or as JSON.
///
/// The JSON members have the names that `device import` reads.
struct DeviceReport {
    /// Whether tokens are shown whole.
    let showsToken: Bool

    /// One device as an object, with its further tokens, and with its subscriptions if they are given.
    func json(
        _ device: Device, _ tokens: [FurtherToken], _ subscriptions: DatasetSubscriptions? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        let subscription = showsToken ? WebPushSubscription(device.token) : nil
        for (name, value) in device.texts(token: subscription == nil ? token(device) : nil) {
            writer.key(name)
            writer.string(value)
        }
        if let subscription {
            writer.key("subscription")
            subscription.write(to: &writer)
        } else if let end = device.token.details?.expiresAtMilliseconds {
            writer.key("expiresAt")
            writer.integer(end)
        }
        writer.key("registeredAt")
        writer.integer(device.registeredAtMilliseconds)
        writer.key("tokens")
        writer.beginObject()
        for further in tokens {
            writer.key(dynamic: further.kind.rawValue)
            writer.string(token(further.token))
        }
        writer.endObject()
        if let subscriptions { Self.write(subscriptions, to: &writer) }
        writer.endObject()
        return writer.bytes
    }

    /// The dataset subscriptions of a device as an object.
    static func json(_ subscriptions: DatasetSubscriptions, of deviceID: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("deviceId")
        writer.string(deviceID)
        write(subscriptions, to: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// One device in lines of a name and a value.
    func text(_ device: Device, _ tokens: [FurtherToken], _ subscriptions: DatasetSubscriptions) -> String {
        var rows = device.texts(token: token(device)).map { (name: "\($0.name)", value: $0.value) }
        if let subscription = WebPushSubscription(device.token) {
            if showsToken { rows += [("p256dh", subscription.p256dh), ("auth", subscription.auth)] }
            if let end = subscription.expirationTime { rows.append(("expiresAt", "\(end) ms since 1970")) }
        }
        rows.append(("registeredAt", "\(device.registeredAtMilliseconds) ms since 1970"))
        for further in tokens { rows.append(("\(further.kind.rawValue) token", token(further.token))) }
        rows.append(("datasets", subscriptions.datasetNames.joined(separator: " ")))
        rows.append(("futureDatasets", subscriptions.includesFuture ? "yes" : "no"))
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value.printable() + "\n"
        }.joined()
    }

    /// One device in one line, its values separated by tabs.
    func line(_ device: Device) -> String {
        [
            device.deviceID, device.platform.rawValue, device.app, token(device), device.identityPoolID ?? "-",
            device.identityID ?? "-", device.userID ?? "-",
        ].map { $0.printable() }.joined(separator: "\t")
    }

    /// The columns of `line`.
    static let header = "DEVICE\tPLATFORM\tAPP\tTOKEN\tIDENTITY POOL\tIDENTITY\tUSER"

    private func token(_ token: DeviceToken) -> String { showsToken ? token.hexadecimal : token.description }

    private func token(_ device: Device) -> String {
        showsToken
            ? DeviceTokenText.write(device.token, platform: device.platform)
            : device.token.excerpt(for: device.platform)
    }

    private static func write(_ subscriptions: DatasetSubscriptions, to writer: inout JSONWriter) {
        writer.key("datasets")
        writer.beginArray()
        for name in subscriptions.datasetNames { writer.string(name) }
        writer.endArray()
        writer.key("futureDatasets")
        writer.boolean(subscriptions.includesFuture)
    }
}

/// The JSON of commands that tell how many devices they treated.
enum DeviceCounts {
    /// The result of a removal.
    static func removal(removed: Int, notFound: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("removed")
        writer.integer(removed)
        writer.key("notFound")
        writer.beginArray()
        for deviceID in notFound { writer.string(deviceID) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// The result of an import.
    static func importing(_ result: DeviceImport.Result, seconds: Double) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("imported")
        writer.integer(result.imported)
        writer.key("badLines")
        writer.integer(result.badLines)
        writer.key("lines")
        writer.integer(result.lines)
        writer.key("durationSeconds")
        writer.double(seconds)
        writer.endObject()
        return writer.bytes
    }
}
