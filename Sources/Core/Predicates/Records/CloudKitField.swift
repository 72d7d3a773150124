public import JSON

/// A field in CloudKit's JSON: an object with its `value` and perhaps its `type`, and nothing else.
///
/// It means the same at every depth: as a field of a record, within an object, and as a member of a list.
public struct CloudKitField {
    private let value: JSONValue
    private let type: CloudKitType?

    /// Recognises such an object; nil for one that only looks like it (`{"value": 20, "type": "celsius"}`).
    public init?(_ object: JSONObject) {
        guard let value = object["value"], object.allSatisfy({ $0.isNamed("value") || $0.isNamed("type") }) else {
            return nil
        }
        self.value = value
        guard let type = object["type"] else {
            guard value.object.map({ $0.isLocation || $0.isReference }) ?? true else { return nil }
            self.type = nil
            return
        }
        guard let known = type.string.flatMap(CloudKitType.init) else { return nil }
        self.type = known
    }

    /// The value; nil if it is `null`, or of an unsupported type.
    func fieldValue() throws(ValueMismatch) -> FieldValue? {
        guard !value.isNull else { return nil }
        do throws(ValueMismatch) {
            guard let type else { return try FieldValue.plain(value) }
            return try FieldValue.typed(value, type)
        } catch {
            throw error.under(".value")
        }
    }
}

/// The type that CloudKit's JSON names beside a value (Apple, "CloudKit Web Services Reference", Types and
/// Dictionaries).
struct CloudKitType: Equatable {
    /// The type of a single value.
    enum Element: String, CaseIterable {
        case string = "STRING"
        case integer = "INT64"
        case double = "DOUBLE"
        case timestamp = "TIMESTAMP"
        case bytes = "BYTES"
        case reference = "REFERENCE"
        case location = "LOCATION"
        /// A file: it is part of a record, and nothing can be asked of it.
        case asset = "ASSETID"
    }

    /// The type of the value, or of the members of the list; nil for an empty list.
    let element: Element?
    /// Whether it is a list.
    let isList: Bool

    /// Reads the name of a type; nil if it is none.
    init?(_ name: String) {
        switch name {
        case "EMPTY_LIST", "UNKNOWN_LIST": self.init(nil, isList: true)
        // How servers of CloudKit have written two of them.
        case "NUMBER_INT64": self.init(.integer, isList: false)
        case "NUMBER_DOUBLE": self.init(.double, isList: false)
        case "ASSET": self.init(.asset, isList: false)
        default:
            let suffix = "_LIST"
            let isList = name.hasSuffix(suffix)
            guard let element = Element(rawValue: isList ? String(name.dropLast(suffix.count)) : name) else {
                return nil
            }
            self.init(element, isList: isList)
        }
    }

    private init(_ element: Element?, isList: Bool) {
        self.element = element
        self.isList = isList
    }

    /// The type of a list of these, or this type if it is a list's already.
    var ofList: CloudKitType { CloudKitType(element, isList: true) }

    /// For messages: all names.
    static let expected =
        "one of " + Element.allCases.map(\.rawValue).joined(separator: ", ") + ", or one of them with _LIST"
}
