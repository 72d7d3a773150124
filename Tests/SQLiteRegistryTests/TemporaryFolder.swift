import Glibc

/// A folder that is removed with its contents when its last user lets it go.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/apus-registry-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, mkdtemp(start) != nil else {
                preconditionFailure("no temporary folder could be made in /tmp, errno \(errno)")
            }
            return String(cString: start)
        }
    }

    deinit {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
