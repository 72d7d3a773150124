import Glibc

/// This machine.
enum LocalHost {
    /// Its name in lower case; empty if it has none.
    static let name: String = {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
    }()
}
