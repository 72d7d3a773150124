import Essentials
import JSON
import Notifications

/// Hides what a page must not show: device tokens always, and the contents of payloads unless they may be shown.
///
/// Of an event the attributes and the members that say whom and what it is for are shown, because that is what an
/// operator looks for. Everything else in its data, such as the text of a notification or the fields of a record, is
/// hidden.
struct PageMask: Sendable {
    /// The replacement for a hidden value.
    static let hidden = "•••"
    /// From this many hexadecimal digits on, a run of them may be a device token.
    private static let tokenDigitsMinimum = 40
    private static let tokenDigitsShown = 4
    /// The members of an event's data that are shown.
    private static let shownMembers: Set<String> = [
        "app", "topic", "deviceIds", "identityIds", "userIds", "deviceTokens", "identityPoolId", "identityId",
        "datasetName", "mergedDatasetNames", "syncCount", "deviceId", "recordType", "recordName", "database",
        "zoneName", "ownerId", "campaign",
    ]

    /// Whether the contents of payloads may be shown.
    let showsPayloads: Bool

    /// A token as the page shows it: the first digits, or of an address that is text what its owner may see.
    static func token(_ token: DeviceToken, platform: Platform) -> String {
        platform.hasTextTokens ? token.excerpt(for: platform) : masked(token.hexadecimal, digitsMinimum: 0)
    }

    /// A text with the digits of each device token in it hidden but for the first.
    static func text(_ text: String) -> String { masked(text, digitsMinimum: tokenDigitsMinimum) }

    private static func masked(_ text: String, digitsMinimum: Int) -> String {
        var bytes: [UInt8] = []
        var run: [UInt8] = []
        func endRun() {
            if run.count > tokenDigitsShown, run.count >= digitsMinimum {
                bytes += run.prefix(tokenDigitsShown) + Array("…".utf8)
            } else {
                bytes += run
            }
            run.removeAll()
        }
        for byte in text.utf8 {
            if HexadecimalDigits.value(of: byte) != nil {
                run.append(byte)
            } else {
                endRun()
                bytes.append(byte)
            }
        }
        endRun()
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Events

    /// Writes the body of a message as members of an answer: `event`, `bodyText` or `bodyHexadecimal`, and `isMasked`.
    func write(body: [UInt8], to writer: inout JSONWriter) {
        let parser = JSONParser(bytesMaximum: max(1, body.count), roundsNumbers: true)
        if let value = try? parser.parse(body, refusingRepeatedKeys: false), value.object != nil {
            writer.key("event")
            write(event: value, to: &writer)
        } else if showsPayloads, let text = String(validating: body, as: UTF8.self) {
            writer.member("bodyText", Self.text(text))
        } else if showsPayloads {
            writer.member("bodyHexadecimal", HexadecimalDigits.text(body))
        } else {
            writer.member("bodyText", Self.hidden)
        }
        writer.member("isMasked", !showsPayloads)
    }

    /// A whole CloudEvent, or its data alone.
    private func write(event: JSONValue, to writer: inout JSONWriter) {
        let isWhole = event["specversion"] != nil
        writer.beginObject()
        for member in event.object.map({ Array($0) }) ?? [] {
            let key = member.key
            writer.key(dynamic: key)
            if !isWhole {
                write(data: member.value, named: key, to: &writer)
            } else if key == "data", let data = member.value.object {
                writer.beginObject()
                for member in data {
                    writer.key(dynamic: member.key)
                    write(data: member.value, named: member.key, to: &writer)
                }
                writer.endObject()
            } else if key == "data" || key == "data_base64" {
                write(member.value, isShown: showsPayloads, to: &writer)
            } else {
                write(member.value, isShown: true, to: &writer)
            }
        }
        writer.endObject()
    }

    private func write(data: JSONValue, named name: String, to writer: inout JSONWriter) {
        if name == "deviceTokens" {
            writer.beginArray()
            for token in data.array.map({ Array($0) }) ?? [] {
                writer.string(Self.masked(token.string ?? "", digitsMinimum: 0))
            }
            writer.endArray()
        } else {
            write(data, isShown: showsPayloads || Self.shownMembers.contains(name), to: &writer)
        }
    }

    private func write(_ value: JSONValue, isShown: Bool, to writer: inout JSONWriter) {
        if let object = value.object {
            writer.beginObject()
            for member in object {
                writer.key(dynamic: member.key)
                write(member.value, isShown: isShown, to: &writer)
            }
            writer.endObject()
        } else if let array = value.array {
            writer.beginArray()
            for element in array { write(element, isShown: isShown, to: &writer) }
            writer.endArray()
        } else if !isShown {
            writer.string(Self.hidden)
        } else if let text = value.string {
            writer.string(Self.text(text))
        } else {
            writer.value(value)
        }
    }
}
