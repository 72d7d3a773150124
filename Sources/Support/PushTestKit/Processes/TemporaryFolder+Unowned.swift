import Glibc

extension TemporaryFolder {
    /// Makes a folder that no object owns, for what outlives this process: whoever supervises that removes it.
    ///
    /// Only its owner may look into it, and its path leaves room for that of a socket.
    ///
    /// - Parameter purpose: what it is for, as a part of its name.
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
