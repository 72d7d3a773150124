import Foundation

/// Stands in for the phone's system: hands on what the simulator of APNs accepted for this phone, from its record.
struct PhoneSystem: Sendable {
    let record: String
    let token: String

    private struct Line: Decodable {
        let token: String
        let status: Int
    }

    /// The payloads, as they come.
    func pushes() -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                var read: UInt64 = 0
                while !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(200))
                    for payload in try self.payloads(after: &read) { continuation.yield(payload) }
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The payloads in the lines that are complete and new.
    private func payloads(after read: inout UInt64) throws -> [Data] {
        guard let file = FileHandle(forReadingAtPath: record) else { return [] }
        defer { try? file.close() }
        try file.seek(toOffset: read)
        guard let bytes = try file.readToEnd(), let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[...end]
        read += UInt64(lines.count)
        return try lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let answered = try JSONDecoder().decode(Line.self, from: line)
            guard answered.token == token, answered.status == 200 else { return nil }
            let push = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            return try push?["payload"].map { try JSONSerialization.data(withJSONObject: $0) }
        }
    }
}
