public import EventLoop
import Glibc
import JSON

/// The control port of a running simulator: one line of JSON in, one line of JSON out, over TCP on this machine.
///
/// A line is a fault, which is added; or `{"clear":true}`, by which it behaves again; or `{"show":true}`, which asks
/// for the summary. So `nc 127.0.0.1 PORT < faults.ndjson` changes it. It lives on a loop of its owner's.
public final class FaultControl {
    /// The port that it listens on.
    public private(set) var port: UInt16 = 0

    private static let clientsMaximum = 16

    private let simulator: APNsSimulator
    private let loop: EventLoop
    private var listener: TCPListener?
    private var clients: [Int32: FaultControlClient] = [:]

    /// Listens.
    ///
    /// - Parameters:
    ///   - simulator: the simulator to control.
    ///   - port: the port; 0 for any.
    ///   - loop: where to live; call on it.
    /// - Throws: `SimulatorError` (`listenFailed`).
    public init(_ simulator: APNsSimulator, port: UInt16, loop: EventLoop) throws(SimulatorError) {
        self.simulator = simulator
        self.loop = loop
        do throws(EventLoopError) {
            let listener = try TCPListener(host: "127.0.0.1", port: port, loop: loop) { [weak self] socket in
                self?.accepted(socket)
            }
            self.port = listener.port
            self.listener = listener
        } catch { throw SimulatorError(.listenFailed, "the control port \(port) cannot be listened on: \(error)") }
    }

    /// Ends it.
    public func stop() {
        listener?.close()
        listener = nil
        for client in Array(clients.values) { client.end() }
    }

    private func accepted(_ socket: Int32) {
        guard clients.count < Self.clientsMaximum else { return SocketCloser.close(socket) }
        clients[socket] = FaultControlClient(socket: socket, simulator: simulator, loop: loop) { [weak self] in
            self?.clients[socket] = nil
        }
    }
}

/// One client of the control port.
final class FaultControlClient {
    private static let lineBytesMaximum = 65_536

    private let socket: Int32
    private let simulator: APNsSimulator
    private let loop: EventLoop
    private let whenEnded: () -> Void
    private var registration: EventLoop.Registration?
    private var input: [UInt8] = []

    init(socket: Int32, simulator: APNsSimulator, loop: EventLoop, whenEnded: @escaping () -> Void) {
        self.socket = socket
        self.simulator = simulator
        self.loop = loop
        self.whenEnded = whenEnded
        registration = try? loop.register(socket, for: .readable) { [weak self] _ in self?.readAvailable() }
    }

    func end() {
        if let registration { loop.deregister(registration) }
        registration = nil
        SocketCloser.close(socket)
        whenEnded()
    }

    private func readAvailable() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(socket, &buffer, buffer.count)
            if count < 0, errno == EAGAIN { break }
            guard count > 0 else { return end() }
            input += buffer.prefix(count)
            guard input.count <= Self.lineBytesMaximum else { return end() }
            while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(input[..<end])
                input.removeFirst(end + 1)
                answer(line)
            }
        }
    }

    private func answer(_ line: [UInt8]) {
        let command = (try? JSONParser(depthMaximum: 4, bytesMaximum: Self.lineBytesMaximum).parse(line))?.object
        if command?["show"]?.bool == true { return show() }
        if command?["clear"]?.bool == true {
            simulator.removeFaults()
            return reply("{\"ok\":true}")
        }
        do throws(SimulatorError) {
            simulator.add(try SimulatorFaults(parsing: line))
            reply("{\"ok\":true}")
        } catch {
            var writer = JSONWriter(capacityBytes: 256)
            writer.beginObject()
            writer.key("error")
            writer.string(error.message)
            writer.endObject()
            reply(String(decoding: writer.bytes, as: UTF8.self))
        }
    }

    /// The numbers come from the simulator's loops; the answer follows when they are there.
    private func show() {
        // The client may go meanwhile, and its descriptor become another's.
        let copy = dup(socket)
        guard copy >= 0 else { return }
        Self.sendSummary(of: simulator, to: copy)
    }

    /// Sends the numbers, and closes the descriptor.
    private static func sendSummary(of simulator: APNsSimulator, to socket: Int32) {
        Task {
            if let summary = try? await simulator.summary() { send(summary.json, to: socket) }
            SocketCloser.close(socket)
        }
    }

    private func reply(_ text: String) { Self.send(text, to: socket) }

    /// A client that does not read its answers loses them.
    private static func send(_ text: String, to socket: Int32) {
        let bytes = Array((text + "\n").utf8)
        _ = bytes.withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
    }
}

/// Faults that the simulator is to have from the start: JSON objects, one a line, as `apus simulate --help` lists them.
public struct SimulatorFaults: Sendable {
    let rules: [FaultRule]

    /// A simulator that behaves.
    public static let none = SimulatorFaults(rules: [])

    private init(rules: [FaultRule]) { self.rules = rules }

    /// Reads faults.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) { rules = try FaultRule.parse(lines: bytes) }
}
