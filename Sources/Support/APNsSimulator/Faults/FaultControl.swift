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
    ///   - simulator: what to control.
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
