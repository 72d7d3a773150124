internal import JSON

/// The type that CloudKit's JSON names beside a value (Apple, "CloudKit Web Services Reference", Types and
/// Dictionaries).
struct CloudKitType: Equatable {
    /// What a value is made of.
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

    /// What the value is, or the members of the list are; nil for a list of nothing.
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

    /// The type of a list of these, or this one if it is that of a list.
    var ofList: CloudKitType { CloudKitType(element, isList: true) }

    /// For messages: all names.
    static let expected =
        "one of " + Element.allCases.map(\.rawValue).joined(separator: ", ") + ", or one of them with _LIST"
}
