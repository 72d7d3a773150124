import JSON
import PushCore

/// Understands one line of an import.
enum DeviceLine {
    /// Reads a device and what it subscribes to.
    ///
    /// A member that is not known is refused, because a name that is misspelt would otherwise leave a device without
    /// its identity, and nobody would notice.
    ///
    /// - Parameters:
    ///   - bytes: the line.
    ///   - parser: reads it.
    ///   - now: when the device was registered if the line does not say, in milliseconds since 1970.
    ///   - courierKey: tells which tokens are those of `WEB` clients; nil to believe the line.
    /// - Returns: the device.
    /// - Throws: `DeviceLineProblem`.
    static func parse(
        _ bytes: ArraySlice<UInt8>, parser: JSONParser, now: Int64, courierKey: CourierKey?
    ) throws(DeviceLineProblem) -> DeviceRegistration {
        var reader = DeviceLineMembers()
        do throws(JSONError) {
            let root = try bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try parser.parse(bytes) }
            reader.object = root.object
        } catch {
            throw DeviceLineProblem("not JSON: \(error)")
        }
        guard let object = reader.object else { throw DeviceLineProblem("not a JSON object") }
        for member in object where !DeviceLineMembers.names.contains(member.key) {
            throw DeviceLineProblem(
                "unknown member \"\(member.key.prefix(40))\"; "
                    + SpellingSuggestion.advice(about: member.key, among: DeviceLineMembers.names))
        }
        let registration = try reader.registration(now: now, courierKey: courierKey)
        do throws(RegistryError) {
            try RegistryRules.check(registration)
        } catch {
            throw DeviceLineProblem(error.message)
        }
        return registration
    }
}
