public import Foundation

/// The examples and schemas that are published for backends, in `deploy/`.
public enum ExampleEvents {
    /// The folder that holds `Package.swift`.
    public static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The names of the JSON files in a folder, sorted.
    public static func files(in folder: String) throws -> [String] {
        let path = repository.appending(path: folder).path
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }.sorted()
    }

    /// The bytes of a file below the repository.
    public static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: repository.appending(path: path)))
    }

    /// The example of a name, without its ending.
    public static func example(_ name: String) throws -> [UInt8] { try bytes("deploy/examples/\(name).json") }
}
