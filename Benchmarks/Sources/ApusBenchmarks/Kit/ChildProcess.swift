import Foundation

/// A program that a benchmark starts, and ends by its own identifier.
final class ChildProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let standardOutput = Pipe()

    /// The process identifier.
    var identifier: Int32 { process.processIdentifier }

    /// Starts a program; its standard error goes to a file, or nowhere.
    init(_ path: String, _ arguments: [String], environment: [String: String]? = nil, errorFile: String? = nil) throws {
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(description: "\(path) is missing; run 'deploy/bin/install-packages bench'")
        }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardOutput = standardOutput
        process.standardInput = FileHandle.nullDevice
        if let errorFile {
            _ = FileManager.default.createFile(atPath: errorFile, contents: nil)
            process.standardError = FileHandle(forWritingAtPath: errorFile)
        } else {
            process.standardError = FileHandle.nullDevice
        }
        try process.run()
    }

    /// Runs a program to its end.
    static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let child = try ChildProcess(path, arguments)
        let output = child.standardOutput.fileHandleForReading.readDataToEndOfFile()
        child.process.waitUntilExit()
        return (child.process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// The next line of its standard output, without the line feed; nil at the end.
    func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = try? standardOutput.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Asks it to end, and makes it end if it has not after ten seconds.
    ///
    /// Threads of Foundation hand their blocked signals on to the processes that they start, so a program without a
    /// handler of its own may never see the request.
    func end() {
        if process.isRunning { process.terminate() }
        for _ in 0..<1_000 where process.isRunning { usleep(10_000) }
        if process.isRunning { kill(identifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Ends it without asking.
    func endNow() {
        if process.isRunning { kill(identifier, SIGKILL) }
        process.waitUntilExit()
    }

    deinit { end() }
}
