import Essentials
public import FoundationEssentials

/// The attributes of an event beside its data, as CloudEvents defines them.
public struct EventAttributes: Hashable, Sendable {
    /// Names the event among all of its source, at most 255 bytes; nil draws a UUID.
    ///
    /// An event that is made again for the same change should have the same one.
    public var id: String?
    /// When the change happened; nil is now.
    ///
    /// Only the metric `apus_event_lag_seconds` uses it.
    public var time: Date?
    /// CloudEvents' extension attributes, for example `traceparent`; a name has lowercase letters and digits only.
    public var extensions: [String: String]

    /// Describes an event.
    ///
    /// - Parameters:
    ///   - id: the identifier; nil draws a UUID.
    ///   - time: when the change happened; nil is now.
    ///   - extensions: extension attributes by name.
    public init(id: String? = nil, time: Date? = nil, extensions: [String: String] = [:]) {
        self.id = id
        self.time = time
        self.extensions = extensions
    }

    /// The attributes that an event has by itself; no extension may have their names.
    private static let ownNames: Set<String> = [
        "specversion", "id", "source", "type", "time", "subject", "datacontenttype", "dataschema", "data",
    ]

    private static func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte)
    }

    /// Writes the attributes; a name that breaks a rule becomes the writer's fault (CloudEvents 1.0.2, "Attribute
    /// Naming Convention").
    func write(to writer: inout EventWriter) {
        writer.attribute("id", id ?? UUID().uuidString.lowercased())
        writer.time(time ?? Date())
        for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
            let hasForm = !name.isEmpty && name.utf8.allSatisfy(Self.isLowercaseOrDigit)
            if !hasForm || Self.ownNames.contains(name) {
                writer.refuse(
                    "an extension attribute has the name \(name.excerpt); it must be lowercase letters and digits, "
                        + "and none of CloudEvents' own names")
            }
            writer.attribute(name, value)
        }
    }
}
