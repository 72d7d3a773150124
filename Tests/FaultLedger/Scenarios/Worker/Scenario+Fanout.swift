import Glibc
import PushTestKit

extension Scenario {
    /// Small enough for several chunks of each announcement.
    private static let smallChunks = "[fanout]\nthreshold_devices = 250\nchunk_devices = \(Stage.chunkDevices)"

    /// Workers die one after the other while events go to many devices.
    static let fanoutWorkerKill = Scenario(
        name: "fanout-worker-kill", domain: .worker,
        sentence: "SIGKILL to one of three workers after the other while one event of 300 goes to 600 devices",
        setting: Setting(workers: 3, workerConfiguration: smallChunks, loadSeconds: 12, announcementInterval: 300),
        redeliveries: 6
    ) { stage in
        for _ in 0..<2 {
            for worker in stage.workers {
                try await Pause.seconds(stage.draw(0.2...1))
                try await worker.endBySignal(SIGKILL)
            }
        }
        try await stage.waitUntilReady()
    }

    /// The broker dies while events go to many devices.
    static let fanoutBrokerKill = Scenario(
        name: "fanout-broker-kill", domain: .broker,
        sentence: "SIGKILL to the only RabbitMQ node while one event of 300 goes to 600 devices",
        setting: Setting(
            workers: 3, isBrokerPrivate: true, workerConfiguration: smallChunks, loadSeconds: 12,
            announcementInterval: 300), redeliveries: 3
    ) { stage in
        let broker = try stage.broker
        try await broker.writeOutQueues()
        try broker.kill()
        try await broker.startAgain()
        try await stage.waitUntilReady()
    }
}
