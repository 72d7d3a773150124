internal import JSON

/// How the value of a column is written in an envelope, and so which value of a field it is.
///
/// The schema of Debezium's envelope says it (`init(schema:)`), or the configuration (`init(declared:)`). A column with
/// an array has the type of its elements.
public enum ColumnType: Hashable, Sendable {
    /// The units in which a moment is counted from 1970.
    public enum TimeUnit: Hashable, Sendable {
        /// Days.
        case days
        /// Milliseconds.
        case milliseconds
        /// Microseconds.
        case microseconds
        /// Nanoseconds.
        case nanoseconds
    }

    /// As JSON shows it: a text, a number, true or false.
    case plain
    /// A text.
    case text
    /// A number, or the text of one.
    case number
    /// A moment: a count of units, or a text of ISO 8601, in UTC if it has no zone. Without a unit only a text.
    case moment(TimeUnit?)
    /// An unscaled number, big-endian in base64; without a scale an object that has it, or a number as `number` has it.
    case decimal(scale: Int?)
    /// Bytes in base64.
    case bytes
    /// A point: `x` is the longitude and `y` the latitude, or a point in WKB.
    case place
    /// A type that no event carries, by its name; only a schema says so.
    case refused(String)

    /// The names that a configuration can declare.
    public static let declarable =
        "date, timestamp-ms, timestamp-us, timestamp-ns, timestamp, decimal(SCALE), decimal, number, text, bytes, point"

    /// The scales of decimals; PostgreSQL's go from -1 000 to 16 383.
    static let scales: ClosedRange<Int64> = -20_000...20_000

    /// Reads a declared type; nil if it is none.
    public init?(declared name: String) {
        switch name {
        case "date": self = .moment(.days)
        case "timestamp-ms": self = .moment(.milliseconds)
        case "timestamp-us": self = .moment(.microseconds)
        case "timestamp-ns": self = .moment(.nanoseconds)
        case "timestamp": self = .moment(nil)
        case "decimal": self = .decimal(scale: nil)
        case "number": self = .number
        case "text": self = .text
        case "bytes": self = .bytes
        case "point": self = .place
        default:
            guard name.hasPrefix("decimal("), name.hasSuffix(")"),
                let scale = Self.scale(String(name.dropFirst("decimal(".count).dropLast()))
            else { return nil }
            self = .decimal(scale: scale)
        }
    }

    /// Reads the schema of a column, in the JSON of Kafka Connect.
    ///
    /// Sources: Debezium, "Data type mappings" of the connectors for PostgreSQL and MySQL; Kafka Connect, `JsonSchema`.
    init(schema: JSONObject) {
        guard let name = schema["name"]?.string else {
            self = Self.unnamed(schema)
            return
        }
        switch name {
        case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date": self = .moment(.days)
        case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp": self = .moment(.milliseconds)
        case "io.debezium.time.MicroTimestamp": self = .moment(.microseconds)
        case "io.debezium.time.NanoTimestamp": self = .moment(.nanoseconds)
        case "io.debezium.time.ZonedTimestamp", "io.debezium.time.IsoTimestamp", "io.debezium.time.IsoDate":
            self = .moment(nil)
        case "org.apache.kafka.connect.data.Decimal":
            let scale = schema["parameters"]?["scale"]?.string.flatMap(Self.scale)
            self = scale.map { .decimal(scale: $0) } ?? .refused(name)
        case "io.debezium.data.VariableScaleDecimal": self = .decimal(scale: nil)
        case "io.debezium.data.geometry.Point", "io.debezium.data.geometry.Geometry",
            "io.debezium.data.geometry.Geography":
            self = .place
        case "io.debezium.data.Uuid", "io.debezium.data.Enum", "io.debezium.data.EnumSet", "io.debezium.time.Year":
            self = .plain
        default: self = .refused(name)
        }
    }

    /// The type of a schema without a name, by Kafka Connect's own types.
    private static func unnamed(_ schema: JSONObject) -> ColumnType {
        let type = schema["type"]?.string ?? ""
        switch type {
        case "int8", "int16", "int32", "int64", "boolean", "string": return .plain
        case "float", "double", "float32", "float64": return .number
        case "bytes": return .bytes
        case "array":
            guard let items = schema["items"]?.object, items["type"]?.isString("array") != true else {
                return .refused("array of arrays")
            }
            return ColumnType(schema: items)
        default: return .refused(type)
        }
    }

    private static func scale(_ text: String) -> Int? {
        Int(text).flatMap { scales.contains(Int64($0)) ? $0 : nil }
    }
}
