import JSON

extension String {
    /// The text in quotes with special characters escaped, as JSON and TOML both read it.
    var quoted: String {
        var writer = JSONWriter(capacityBytes: utf8.count + 2)
        writer.string(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
