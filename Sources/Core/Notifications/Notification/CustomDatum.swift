/// One key of the app's own, beside `aps`, at the top level of a payload.
public struct CustomDatum: Hashable, Sendable {
    /// The key; not `aps`.
    public var key: String
    /// The value: any JSON value.
    public var value: RawJSON

    /// Creates a datum.
    public init(key: String, value: RawJSON) {
        self.key = key
        self.value = value
    }
}
