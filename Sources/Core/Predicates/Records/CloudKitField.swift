public import JSON

/// A field as CloudKit's JSON writes it: an object of its `value` and perhaps its `type`, and of nothing else.
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

    /// The value; nil if it is `null`, or of a type that nothing can be asked of.
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
