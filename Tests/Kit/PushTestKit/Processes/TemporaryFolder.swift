import Foundation
import Glibc

/// A folder of its own for one test, which goes with the last reference to it.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without a slash at its end.
    public let path: String

    /// Makes the folder.
    ///
    /// - Throws: an error of Foundation if the system's folder for temporary files takes no more.
    public init() throws {
        path = NSTemporaryDirectory() + "apus-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Makes a named folder, which can be removed by its name if this process is killed.
    ///
    /// - Parameter path: the absolute path, without a slash at its end.
    /// - Throws: an error of Foundation if it cannot be made.
    public init(at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file into the folder.
    ///
    /// - Parameters:
    ///   - name: the name; a folder in it has to exist.
    ///   - bytes: the content.
    ///   - mode: the permissions of the file.
    /// - Returns: the path of the file.
    /// - Throws: an error of Foundation if it cannot be written.
    @discardableResult
    public func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        // Written atomically: a command that reads the file meanwhile finds the old or the new content.
        try Data(bytes).write(to: URL(fileURLWithPath: file), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    /// Writes a text file into the folder.
    ///
    /// - Parameters:
    ///   - name: the name; a folder in it has to exist.
    ///   - text: the content.
    ///   - mode: the permissions of the file.
    /// - Returns: the path of the file.
    /// - Throws: an error of Foundation if it cannot be written.
    @discardableResult
    public func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// The text of a file in the folder.
    public func read(_ name: String) throws -> String {
        try String(decoding: Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")), as: UTF8.self)
    }

    /// Removes a file from the folder.
    public func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    /// Makes a folder that no object owns, for processes that outlive this one; their supervisor removes it.
    ///
    /// Only its owner may look into it, and its path leaves room for that of a socket.
    ///
    /// - Parameter purpose: the purpose, a part of its name.
    /// - Returns: the absolute path, without a slash at its end.
    /// - Throws: `PrivateServerFailure` if the system's folder for temporary files takes no more.
    static func makeUnowned(for purpose: String) throws(PrivateServerFailure) -> String {
        // `mkdtemp` puts letters of its own in place of the six at the end.
        let placeholder = String(repeating: "X", count: 6)
        var template = Array("/tmp/apus-\(purpose)-\(placeholder)".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw PrivateServerFailure("no temporary folder: \(String(cString: strerror(errno)))")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
