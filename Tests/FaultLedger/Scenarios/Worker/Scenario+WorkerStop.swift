import Glibc
import PushTestKit

extension Scenario {
    private static let heartbeatSeconds = 2

    /// A worker stands still, as a virtual machine that is moved does, until the broker has given it up.
    ///
    /// Its messages go to the other, and what it still does when it wakes up must not be acknowledged on another
    /// connection.
    static let workerStop = Scenario(
        name: "worker-stop", domain: .worker,
        sentence: "SIGSTOP to one of two workers for longer than three heartbeats of the broker",
        setting: Setting(
            isBrokerPrivate: true, brokerConfiguration: "heartbeat = \(heartbeatSeconds)", loadSeconds: 14,
            strikeShare: 0.1...0.3), redeliveries: 1
    ) { stage in
        let worker = stage.drawWorker()
        worker.signal(SIGSTOP)
        try await Pause.seconds(Double(heartbeatSeconds) * stage.draw(3.5...4.5))
        worker.signal(SIGCONT)
        try await worker.waitUntilReady()
    }
}
