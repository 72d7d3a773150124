/// The names by which a load generator recognises its devices and its pushes.
///
/// Devices have the same names in every run, so a run finds those of the last. Events have the name of their run: a
/// push of an earlier run is not taken for one of this run.
public struct LoadNames: Sendable, Equatable {
    /// How every name begins.
    public static let prefix = "apus-load-"
    /// The dataset of each identity.
    public static let dataset = "apus-load"
    /// The type of the records.
    public static let recordType = "ApusLoad"
    /// The field of a record by which its subscription is found.
    public static let field = "device"

    /// The name of the run: eight hexadecimal digits.
    public let run: String
    /// The sync count of event 0; it exceeds those of all earlier runs, because a worker sends no older ones.
    public let syncCountBase: Int64

    /// Names a run after the moment of its start.
    ///
    /// - Parameters:
    ///   - seconds: the start, in seconds since 1970.
    ///   - random: tells runs of the same second apart.
    public init(startedAtSeconds seconds: Int64, random: UInt16) {
        run = Self.digits(UInt64(truncatingIfNeeded: (seconds & 0xFFFF) << 16) | UInt64(random), count: 8)
        // Four million numbers a second, exact in a Double for the next two hundred years.
        syncCountBase = (seconds - 1_600_000_000) * 4_000_000
    }

    /// How the mark of each push of this run begins; the number of the event follows.
    public var mark: String { "\(Self.prefix)\(run)-" }

    /// The identifier of a device.
    public static func device(_ number: Int) -> String { prefix + digits(UInt64(clamping: number), count: 8) }

    /// The user of a device.
    public static func user(_ number: Int) -> String { device(number) }

    /// The token of a device: 64 hexadecimal digits, which begin with the bytes of `apus-load`.
    public static func token(_ number: Int) -> String {
        "617075732d6c6f6164" + digits(UInt64(clamping: number), count: 46)
    }

    /// The identity of a device, in the region of its identity pool.
    public static func identity(_ number: Int, pool: String) -> String {
        "\(pool.prefix { $0 != ":" }):00a9051d-10ad-4000-8000-\(digits(UInt64(clamping: number), count: 12))"
    }

    /// The topic of fan-outs to a number of devices.
    public static func topic(audience: Int) -> String { "\(prefix)\(audience)" }

    private static func digits(_ number: UInt64, count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
