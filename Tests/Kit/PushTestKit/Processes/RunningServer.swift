import EventLoop
import Glibc

/// A server that is not ours, run by a test until it ends.
public final class RunningServer: Sendable {
    /// The reason why a server did not start, or its output when it ended too soon.
    public struct Failure: Error, CustomStringConvertible {
        /// A sentence for the reader of the test's output.
        public let description: String
    }

    /// Where it listens on 127.0.0.1.
    public let port: UInt16
    private let files: TemporaryFolder
    private let process: SpawnedProcess

    private init(port: UInt16, files: TemporaryFolder, process: SpawnedProcess) {
        self.port = port
        self.files = files
        self.process = process
    }

    deinit { process.signal(SIGKILL) }

    /// Starts a program and waits until it listens.
    ///
    /// - Parameters:
    ///   - package: the Debian package that has it, to be named if it is missing.
    ///   - folder: where it runs.
    ///   - arguments: gives the path of the program and its arguments, for a port that is free.
    /// - Returns: the server.
    /// - Throws: `Failure` if it is not installed or ends, `EventLoopError` if there is no port.
    public static func start(
        package: String, in folder: TemporaryFolder, arguments: (UInt16) throws -> [String]
    ) async throws -> RunningServer {
        let (socket, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
        close(socket)
        let command = try arguments(port)
        let files = try TemporaryFolder()
        let streams = SpawnedProcess.Streams(
            input: "/dev/null", output: try files.write("output", ""), errors: try files.write("errors", ""))
        let process: SpawnedProcess
        do throws(SpawnedProcess.Failure) {
            process = try SpawnedProcess(
                command, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], folder: folder.path,
                streams: streams)
        } catch {
            throw Failure(description: "\(error.description); run: apt-get install \(package)")
        }
        let server = RunningServer(port: port, files: files, process: process)
        try await eventually("\(command[0]) to listen on port \(port)") {
            guard !process.hasEnded else { throw Failure(description: "it ended: \(server.errors)") }
            return isListening(port)
        }
        return server
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// The standard output so far.
    public var output: String { (try? files.read("output")) ?? "" }
    /// The standard error so far.
    public var errors: String { (try? files.read("errors")) ?? "" }

    /// Asks it to end, and waits until it has.
    public func stop() async {
        process.signal(SIGTERM)
        _ = await process.end()
    }
}

/// Why a private server of the tests could not be started or told to do something.
public struct PrivateServerFailure: Error, CustomStringConvertible, Sendable {
    /// The failure, and the remedy.
    public let description: String

    /// Describes a failure.
    public init(_ description: String) { self.description = description }
}

/// Finds TCP ports of 127.0.0.1 without a listener.
public enum FreePorts {
    /// Finds different free ports; all are held until the last is found, so that none is found twice.
    ///
    /// They are free on every address: a server that listens on all of them cannot have a port that a connection from
    /// 127.0.0.2 has or had a minute ago.
    ///
    /// - Parameter count: how many.
    /// - Returns: the ports, which another process may take before they are used.
    /// - Throws: `PrivateServerFailure` if the system has none.
    public static func find(_ count: Int) throws(PrivateServerFailure) -> [UInt16] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        var ports: [UInt16] = []
        for _ in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                    bind(descriptor, pointer.baseAddress, length) == 0
                        && getsockname(descriptor, pointer.baseAddress, &length) == 0
                }
            }
            guard code else { throw PrivateServerFailure("no free port: \(String(cString: strerror(errno)))") }
            ports.append(UInt16(bigEndian: address.sin_port))
        }
        return ports
    }
}
