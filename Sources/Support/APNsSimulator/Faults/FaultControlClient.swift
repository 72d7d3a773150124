import EventLoop
import Glibc
import JSON

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
