import Glibc

/// A system call that fails in a process that a test starts; see `Tests/Kit/CallFaults`, the library that does it.
public struct CallFault: Hashable, Sendable {
    /// Which calls are counted.
    public enum Call: String, Hashable, Sendable, CaseIterable {
        /// Reads that have something to read.
        case read
        /// Writes.
        case write
        /// Calls that make sure that a file is on the disk.
        case sync
    }

    /// On what they are counted.
    public enum Subject: Hashable, Sendable {
        /// Connections to this TCP port.
        case port(UInt16)
        /// Files whose path contains this text.
        case file(String)
    }

    /// The failure that the process sees.
    public enum Manner: String, Hashable, Sendable, CaseIterable {
        /// The connection is lost, and nothing was read or written.
        case reset
        /// The connection is lost when half has been written.
        case cut
        /// The peer has closed.
        case end
        /// Half is read or written, and all is well.
        case short
        /// The write would block.
        case again
        /// No space is left on the device.
        case full
        /// The device fails.
        case broken
    }

    /// Which calls are counted.
    public let call: Call
    /// The file or connection whose calls are counted.
    public let subject: Subject
    /// The failure that the process sees.
    public let manner: Manner
    /// Which call fails, counted from 1.
    public let occurrence: Int
    /// How many fail in a row.
    public let times: Int

    /// Describes a fault.
    ///
    /// - Parameters:
    ///   - call: which calls are counted.
    ///   - subject: on what they are counted.
    ///   - manner: the failure that the process sees.
    ///   - occurrence: which call fails, counted from 1.
    ///   - times: how many fail in a row.
    public init(_ call: Call, on subject: Subject, as manner: Manner, occurrence: Int, times: Int = 1) {
        self.call = call
        self.subject = subject
        self.manner = manner
        self.occurrence = occurrence
        self.times = times
    }

    /// The library, which lies beside the program that runs.
    public static var libraryPath: String { CommandRunner.path(of: "libCallFaults.so") }

    /// The environment for starting the process.
    ///
    /// - Parameters:
    ///   - report: a file that gets a line when a call has failed.
    ///   - isOnce: whether a process that finds the report at its start is left alone.
    ///   - switchFile: calls are counted only while there is such a file; nil for always.
    /// - Returns: variables of its environment.
    public func environment(
        report: String, isOnce: Bool = false, whileThereIs switchFile: String? = nil
    ) -> [String: String] {
        var variables = [
            "LD_PRELOAD": Self.libraryPath, "CALL_FAULT_CALL": call.rawValue, "CALL_FAULT_AS": manner.rawValue,
            "CALL_FAULT_KTH": "\(occurrence)", "CALL_FAULT_TIMES": "\(times)", "CALL_FAULT_REPORT": report,
        ]
        if isOnce { variables["CALL_FAULT_ONCE"] = "yes" }
        if let switchFile { variables["CALL_FAULT_WHILE"] = switchFile }
        switch subject {
        case .port(let port): variables["CALL_FAULT_PORT"] = "\(port)"
        case .file(let text): variables["CALL_FAULT_FILE"] = text
        }
        return variables
    }

    /// The environment of a process that gets no thread from the system any more, from one on.
    ///
    /// Threads of Swift's own pool are not counted: without one of them nothing of the process runs.
    ///
    /// - Parameters:
    ///   - occurrence: the first thread that is refused, counted from 1.
    ///   - report: a file that gets a line for each refused one.
    /// - Returns: variables of its environment.
    public static func withoutThreads(from occurrence: Int, report: String) -> [String: String] {
        [
            "LD_PRELOAD": libraryPath, "CALL_FAULT_CALL": "thread", "CALL_FAULT_KTH": "\(occurrence)",
            "CALL_FAULT_TIMES": "1000000", "CALL_FAULT_REPORT": report,
        ]
    }
}
