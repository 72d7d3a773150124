import JSON

/// The JSON of commands that tell how many devices they treated.
enum DeviceCounts {
    /// What a removal did.
    static func removal(removed: Int, notFound: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("removed")
        writer.integer(removed)
        writer.key("notFound")
        writer.beginArray()
        for deviceID in notFound { writer.string(deviceID) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// What an import did.
    static func importing(_ result: DeviceImport.Result, seconds: Double) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("imported")
        writer.integer(result.imported)
        writer.key("badLines")
        writer.integer(result.badLines)
        writer.key("lines")
        writer.integer(result.lines)
        writer.key("durationSeconds")
        writer.double(seconds)
        writer.endObject()
        return writer.bytes
    }
}
