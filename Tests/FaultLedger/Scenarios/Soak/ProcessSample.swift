import PushTestKit

/// What a worker needed at one moment.
struct ProcessSample: Sendable {
    /// Resident memory, in kilobytes.
    let residentKilobytes: Int
    /// Open files.
    let fileCount: Int

    /// Looks at a process.
    ///
    /// - Throws: `StageFailure`, or an error of Foundation if it is gone.
    init(of identifier: Int32) throws {
        residentKilobytes = try ProcessStatus.kibibytes("VmRSS", of: identifier)
        fileCount = try ProcessStatus.openFileCount(of: identifier)
    }
}
