internal import JSON
internal import Notifications
internal import PushLibrary

/// The members of FCM's `Message` beside the target, as the items of a message set them.
struct MessageMembers {
    /// The paths that cannot be set, each with the alternative that an error names.
    private static let reservedPaths: [String: String] = [
        "token": "the target of the call", "fid": "the target of the call", "topic": "a target, a token or a fid",
        "condition": "a target, a token or a fid", "name": "nothing: FCM gives it",
        "android": "a path into it, like android.direct_boot_ok", "android_v2": "android, which excludes it",
        "android.ttl": "timeToLive", "android.priority": "priority", "android.collapse_key": "collapseKey",
        "notification": "the items for its members",
    ]

    private(set) var root = MemberTree()

    /// Whether a device shows something of itself.
    var isShown: Bool { root["notification"] != nil || root["android", "notification"] != nil }

    /// The bytes of keys and values of the platform that gets most of them.
    var contentBytes: Int {
        let shown = root.bytes(at: "notification")
        let data = root.bytes(at: "data")
        let ofAndroid = root["android", "data"] == nil ? data : root.bytes(at: "android", "data")
        return max(
            shown + root.bytes(at: "android", "notification") + ofAndroid,
            shown + data + root.bytes(at: "apns", "payload"))
    }

    mutating func add(_ item: FCMItem) throws(PushError) {
        switch item {
        case .title(let text): try set(.text(text), at: "notification", "title")
        case .localizedTitle(let key, let arguments): try setAndroid(key, arguments, "title_loc")
        case .body(let text): try set(.text(text), at: "notification", "body")
        case .localizedBody(let key, let arguments): try setAndroid(key, arguments, "body_loc")
        case .image(let url): try set(.text(url), at: "notification", "image")
        case .channel(let name): try setAndroid("channel_id", name)
        case .icon(let name): try setAndroid("icon", name)
        case .color(let color): try setColor(color)
        case .sound(let name): try setAndroid("sound", name)
        case .tag(let tag): try setAndroid("tag", tag)
        case .clickAction(let action): try setAndroid("click_action", action)
        case .count(let count):
            try set(.json(Array(String(count).utf8)), at: "android", "notification", "notification_count")
        case .data(let key, let text): try setData(key, text)
        case .member(let path, let value): try setMember(path, value)
        }
    }

    /// Writes all members but the target and the time to live, which the transport's `FCMMessage` puts before them.
    func payload(priority: FCMPriority, collapseKey: String?) -> [UInt8] {
        var writer = JSONWriter(capacityBytes: 1_024)
        writer.beginObject()
        writer.key("message")
        writer.beginObject()
        writer.key("android")
        writer.beginObject()
        writer.key("priority")
        writer.string(priority.rawValue)
        if let collapseKey {
            writer.key("collapse_key")
            writer.string(collapseKey)
        }
        if case .object(let android) = root["android"] { android.writeMembers(to: &writer) }
        writer.endObject()
        root.writeMembers(to: &writer, except: "android")
        writer.endObject()
        writer.endObject()
        return Array(writer.bytes.dropFirst(FCMMessageWriter.beginning.utf8CodeUnitCount))
    }

    // MARK: Members

    private mutating func set(_ node: MemberTree.Node, at path: String...) throws(PushError) {
        try root.set(node, at: path[...])
    }

    private mutating func setAndroid(_ name: String, _ text: String) throws(PushError) {
        try set(.text(text), at: "android", "notification", name)
    }

    private mutating func setAndroid(_ key: String, _ arguments: [String], _ name: String) throws(PushError) {
        try setAndroid(name + "_key", key)
        guard !arguments.isEmpty else { return }
        let list = try RawJSON(encoding: arguments, name: name + "_args")
        try set(.json(list.bytes), at: "android", "notification", name + "_args")
    }

    private mutating func setColor(_ color: String) throws(PushError) {
        let digits = color.utf8.dropFirst()
        guard color.hasPrefix("#"), digits.count == 6, digits.allSatisfy(Self.isHexadecimal) else {
            throw PushError(
                .messageInvalid, "the color \"\(color.prefix(16))\" must be # and six hexadecimal digits, like #1A73E8")
        }
        try setAndroid("color", color)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    private mutating func setData(_ key: String, _ text: String) throws(PushError) {
        if let rule = FCMMessageWriter.reservation(of: key) {
            throw PushError(
                .messageInvalid, "data has the key \"\(key.prefix(64))\", but FCM reserves \(rule); rename it")
        }
        try set(.text(text), at: "data", key)
    }

    private mutating func setMember(_ path: String, _ value: any Encodable) throws(PushError) {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        guard !names.contains("") else {
            throw PushError(
                .messageInvalid, "the path \"\(path.prefix(64))\" has an empty name; write it like apns.payload")
        }
        if let other = names.first == "data" ? "an item data for each key" : Self.reservedPaths[path] {
            throw PushError(.messageInvalid, "the member \(path) cannot be set by its path; use \(other)")
        }
        try root.set(.json(try RawJSON(encoding: value, name: path).bytes), at: names[...])
    }
}
