import Foundation
import Glibc

/// A program that a test starts, talks with, and ends.
struct ChildProcess {
    private let process = Process()
    private let output = Pipe()

    /// Whether a program is installed.
    static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    private static func path(of name: String) -> String? {
        let folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin"]
        return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
    }

    init(_ name: String, _ arguments: [String]) throws {
        guard let path = Self.path(of: name) else { throw TestFailure("\(name) is not installed") }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Reads the program's output until it has said the words; what it says after is thrown away.
    func waitForOutput(_ words: String) throws {
        var text = ""
        while !text.contains(words) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw TestFailure("the program ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        // A program whose output nobody reads would stop at a full pipe.
        output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    /// Waits for the end of the program and answers all its output.
    func outputAtEnd() throws -> String {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Ends the program, by its process identifier.
    ///
    /// It was started from a thread that blocks signals, and has inherited that: only this one reaches it.
    func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        output.fileHandleForReading.readabilityHandler = nil
    }
}
