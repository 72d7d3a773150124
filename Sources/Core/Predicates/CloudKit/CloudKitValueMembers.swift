internal import JSON

/// Holds the objects in the value of a filter to the members that they may have.
///
/// Members of a place or a reference that decide nothing (`altitude`, `action`, the owner of a zone) may be there, if
/// they are what CloudKit says they are. Records are read less strictly, since what else they have are fields.
enum CloudKitValueMembers {
    private static let zone: [StaticString] = ["zoneName", "ownerRecordName", "ownerName", "zoneType"]

    /// Checks a value that has been read, and all within it.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - path: where it lies, for messages.
    /// - Throws: `PredicateError` with the path of the object that has another member, or one of them twice.
    static func check(_ value: JSONValue, _ path: String) throws(PredicateError) {
        if let array = value.array {
            for (index, member) in array.enumerated() { try check(member, "\(path)[\(index)]") }
        }
        guard let object = value.object else { return }
        if object.isLocation {
            try check(object, path, JSONObject.locationMembers, are: "a number") { $0.double != nil }
        } else if object.isReference {
            try PredicateFault.allow(JSONObject.referenceMembers, in: object, path)
            if let action = object["action"], !action.isNull, action.kind != .string {
                throw PredicateFault.mismatch("\(path).action", action, "a string", code: .invalidValue)
            }
            guard let zoneID = object["zoneID"]?.object else { return }
            try check(zoneID, "\(path).zoneID", zone, are: "a string") { $0.kind == .string }
        } else if let inner = object["value"] {
            try PredicateFault.allow(["value", "type"], in: object, path)
            try check(inner, "\(path).value")
        }
    }

    private static func check(
        _ object: JSONObject, _ path: String, _ names: [StaticString], are expected: String,
        _ isExpected: (JSONValue) -> Bool
    ) throws(PredicateError) {
        try PredicateFault.allow(names, in: object, path)
        for name in names {
            guard let value = object[name], !value.isNull, !isExpected(value) else { continue }
            throw PredicateFault.mismatch("\(path).\(name)", value, expected, code: .invalidValue)
        }
    }
}
