public import EventLoop
import Glibc
import JSON

/// A running simulator as its control port sees it.
public protocol ControlledSimulator: Sendable {
    /// Carries out a line of JSON: adds the fault that it describes, or does what else the service knows.
    ///
    /// - Throws: `SimulatorError` (`scriptInvalid`) if the line is neither.
    func execute(_ line: [UInt8]) throws(SimulatorError)
    /// Removes the faults; their effects on existing connections stay.
    func removeFaults()
    /// The numbers that only this service has.
    associatedtype Further: FurtherCounts
    /// The numbers so far.
    ///
    /// - Throws: `CancellationError` after the simulator's end.
    func summary() async throws -> ServiceSummary<Further>
}

extension ControlledSimulator {
    /// The numbers so far, as one line of JSON.
    ///
    /// - Throws: `CancellationError` after the simulator's end.
    public func summaryJSON() async throws -> String { try await summary().json }
}

/// The control port of a running simulator: one line of JSON in, one line of JSON out, over TCP on this machine.
///
/// A line is a fault, which is added, or another command of the service; or `{"clear":true}`, by which the simulator
/// behaves again; or `{"show":true}`, which asks for the summary. So `nc 127.0.0.1 PORT < faults.ndjson` changes it. It
/// lives on a loop of its owner's.
public final class FaultControl {
    /// The port that it listens on.
    public private(set) var port: UInt16 = 0

    private static let clientsMaximum = 16

    private let simulator: any ControlledSimulator
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
    public init(_ simulator: any ControlledSimulator, port: UInt16, loop: EventLoop) throws(SimulatorError) {
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
        guard clients.count < Self.clientsMaximum else {
            Glibc.close(socket)
            return
        }
        clients[socket] = FaultControlClient(socket: socket, simulator: simulator, loop: loop) { [weak self] in
            self?.clients[socket] = nil
        }
    }
}

/// One client of the control port.
final class FaultControlClient {
    private static let lineBytesMaximum = 65_536

    private let socket: Int32
    private let simulator: any ControlledSimulator
    private let loop: EventLoop
    private let whenEnded: () -> Void
    private var registration: EventLoop.Registration?
    private var input: [UInt8] = []

    init(socket: Int32, simulator: any ControlledSimulator, loop: EventLoop, whenEnded: @escaping () -> Void) {
        self.socket = socket
        self.simulator = simulator
        self.loop = loop
        self.whenEnded = whenEnded
        registration = try? loop.register(socket, for: .readable) { [weak self] _ in self?.readAvailable() }
    }

    func end() {
        if let registration { loop.deregister(registration) }
        registration = nil
        Glibc.close(socket)
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
            try simulator.execute(line)
            reply("{\"ok\":true}")
        } catch {
            var writer = JSONWriter()
            writer.string(error.message)
            reply("{\"error\":\(String(decoding: writer.bytes, as: UTF8.self))}")
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
    private static func sendSummary(of simulator: any ControlledSimulator, to socket: Int32) {
        Task {
            if let summary = try? await simulator.summaryJSON() { send(summary, to: socket) }
            Glibc.close(socket)
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
