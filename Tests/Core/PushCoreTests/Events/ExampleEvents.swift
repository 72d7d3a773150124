import Foundation

/// The examples and schemas that are published for backends, in `deploy/`.
enum ExampleEvents {
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func files(in folder: String) throws -> [String] {
        let path = repository.appending(path: folder).path
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }.sorted()
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: repository.appending(path: path)))
    }

    static func example(_ name: String) throws -> [UInt8] { try bytes("deploy/examples/\(name).json") }
}
