import Dispatch
import Glibc

/// A minute client for servers on this machine that answer a line with a line.
public enum PlainLine {
    /// Sends a line to 127.0.0.1 and waits for one, on a thread that may wait.
    ///
    /// - Parameters:
    ///   - line: without its line feed.
    ///   - port: the server's port.
    /// - Returns: the answer without its line feed; empty if nothing listens there or the server closed.
    public static func ask(_ line: String, port: UInt16) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: exchange(line, port))
            }
        }
    }

    private static func exchange(_ line: String, _ port: UInt16) -> String {
        let descriptor = PlainHTTP.connect(port)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let bytes = Array("\(line)\n".utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return "" }
        return SupervisedProcess.readLine(descriptor) ?? ""
    }
}
