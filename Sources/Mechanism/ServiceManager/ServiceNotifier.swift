public import EventLoop
import Glibc

/// Tells the service manager how this process is; does nothing if there is none.
///
/// It looks at the service by a timer on a loop that exists anyway. If that loop hangs, the signs of life end as well.
public final class ServiceNotifier: Sendable {
    /// Observes the service and sends the datagrams, on the loop.
    private final class DatagramSender {
        /// How many datagrams wait if the service manager does not read them; later ones are dropped.
        private static let waitingMaximum = 16

        private let loop: EventLoop
        private let socket: NotificationSocket
        private let onFailure: (String) -> Void
        private var machine: ServiceNotificationMachine
        private var observe: (() -> ServiceObservation)?
        private var waiting: [String] = []
        private var hasFailed = false

        init(_ settings: ServiceManagerSettings, loop: EventLoop, onFailure: @escaping (String) -> Void) {
            self.loop = loop
            self.onFailure = onFailure
            socket = NotificationSocket(path: settings.socketPath)
            machine = ServiceNotificationMachine(watchdogMicroseconds: settings.watchdogMicroseconds)
        }

        func begin(_ observe: @escaping () -> ServiceObservation) {
            let isFirst = self.observe == nil
            self.observe = observe
            if isFirst { look() }
        }

        private func look() {
            flush()
            if let observe {
                send(machine.observed(observe(), at: loop.nowNanoseconds))
            }
            loop.schedule(afterNanoseconds: machine.intervalNanoseconds) { [weak self] in self?.look() }
        }

        func reloadBegan() { send(machine.reloadBegan(at: MonotonicClock.nowNanoseconds())) }

        func reloadEnded() { send(machine.reloadEnded()) }

        func stopBegan() { send(machine.stopBegan()) }

        private func send(_ datagram: String?) {
            guard let datagram, waiting.count < Self.waitingMaximum else { return }
            // Signs of life would take the places of what is said once, and those before them say the same.
            if datagram == ServiceNotificationMachine.signOfLife, !waiting.isEmpty { return }
            waiting.append(datagram)
            flush()
        }

        private func flush() {
            while let datagram = waiting.first {
                switch socket.send(datagram) {
                case .sent: hasFailed = false
                case .full: return
                case .failed(let reason):
                    // Told once, because the next datagrams mostly meet the same.
                    if !hasFailed { onFailure(reason) }
                    hasFailed = true
                }
                waiting.removeFirst()
            }
        }
    }

    private let sender: LoopBound<DatagramSender>?

    /// Prepares to tell the service manager; it hears of the service with the first call of `observe`.
    ///
    /// - Parameters:
    ///   - settings: where to send and how often; nil if there is no service manager.
    ///   - loop: a loop of the process, which must not wait for others.
    ///   - onFailure: gets the reason why a datagram cannot be sent, on the loop.
    public init(
        _ settings: ServiceManagerSettings?, loop: EventLoop, onFailure: @escaping @Sendable (String) -> Void
    ) {
        sender = settings.map { LoopBound(DatagramSender($0, loop: loop, onFailure: onFailure), to: loop) }
    }

    /// Looks at the service from now on.
    ///
    /// - Parameter observation: how the service is; called on the loop at least once a second, so it must not wait.
    public func observe(_ observation: @escaping @Sendable () -> ServiceObservation) {
        onLoop { $0.begin(observation) }
    }

    /// Says that the configuration is being read again; `reloadEnded` has to follow.
    public func reloadBegan() { onLoop { $0.reloadBegan() } }

    /// Says that the configuration has been read.
    public func reloadEnded() { onLoop { $0.reloadEnded() } }

    /// Says that the process is stopping.
    public func stopBegan() { onLoop { $0.stopBegan() } }

    /// At once if the caller is on the loop, so that work that follows there comes after the datagram.
    private func onLoop(_ work: @escaping @Sendable (DatagramSender) -> Void) {
        guard let sender else { return }
        if sender.loop.isOnLoop { return work(sender.value) }
        sender.loop.submit { work(sender.value) }
    }
}
