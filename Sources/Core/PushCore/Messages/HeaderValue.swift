/// A value in the headers of a message: every type that AMQP 0-9-1 knows, so that a message can be passed on intact.
public enum HeaderValue: Hashable, Sendable {
    /// A boolean (`t`).
    case boolean(Bool)
    /// A signed integer of 8 bits (`b`).
    case int8(Int8)
    /// An unsigned integer of 8 bits (`B`).
    case uint8(UInt8)
    /// A signed integer of 16 bits (`s`).
    case int16(Int16)
    /// An unsigned integer of 16 bits (`u`).
    case uint16(UInt16)
    /// A signed integer of 32 bits (`I`).
    case int32(Int32)
    /// An unsigned integer of 32 bits (`i`).
    case uint32(UInt32)
    /// A signed integer of 64 bits (`l`).
    case int64(Int64)
    /// An unsigned integer of 64 bits (`L`).
    case uint64(UInt64)
    /// A floating-point number of 32 bits (`f`).
    case float32(Float)
    /// A floating-point number of 64 bits (`d`).
    case float64(Double)
    /// A decimal number: `value` divided by ten to the power of `scale` (`D`).
    case decimal(scale: UInt8, value: UInt32)
    /// Seconds since 1970 (`T`).
    case timestamp(UInt64)
    /// A long string (`S`) that is valid UTF-8.
    case string(String)
    /// A long string (`S`) that is not valid UTF-8.
    case rawString([UInt8])
    /// A byte array (`x`).
    case bytes([UInt8])
    /// A list of values (`A`).
    indirect case array([HeaderValue])
    /// A nested table (`F`).
    indirect case table([MessageHeader])
    /// No value (`V`).
    case void
}
