import Glibc
import PushTestKit

extension Scenario {
    /// A worker dies as by a power failure, and its supervisor starts it again.
    static let workerKill = Scenario(
        name: "worker-kill", domain: .worker, sentence: "SIGKILL to one of two workers; it is started again",
        redeliveries: 1, isShort: true
    ) { environment in
        let worker = environment.drawWorker()
        try await worker.endBySignal(SIGKILL)
        try await worker.waitUntilReady()
    }

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
    ) { environment in
        let worker = environment.drawWorker()
        worker.signal(SIGSTOP)
        try await Pause.seconds(Double(heartbeatSeconds) * environment.draw(3.5...4.5))
        worker.signal(SIGCONT)
        try await worker.waitUntilReady()
    }

    /// A worker is asked to end, as by a rolling update: it drains, so nothing comes again.
    static let workerTerminate = Scenario(
        name: "worker-terminate", domain: .worker,
        sentence: "SIGTERM to one of two workers, which drains; it is started again", redeliveries: 0, isShort: true
    ) { environment in
        let worker = environment.drawWorker()
        let exitCode = try await worker.endBySignal(SIGTERM)
        if exitCode != 0 { environment.report(problem: "a worker that was asked to end ended with \(exitCode)") }
        try await worker.waitUntilReady()
    }

    /// An impatient operator presses twice: what is in flight comes again.
    static let workerTerminateTwice = Scenario(
        name: "worker-terminate-twice", domain: .worker,
        sentence: "SIGTERM and at once another to one of two workers; it is started again", redeliveries: 1
    ) { environment in
        let worker = environment.drawWorker()
        worker.signal(SIGTERM)
        try await worker.waitForLog("worker.draining")
        try await worker.endBySignal(SIGTERM)
        try await worker.waitUntilReady()
    }

    /// Makes the workers reconnect to broker and APNs.
    private static func cutConnections(of environment: Environment, _ reason: String) async throws {
        try await environment.broker.control("close_all_connections", reason)
        try environment.service(.apns).control(#"{"fault":"goaway","last":"none","times":4}"#)
    }

    private static func processIdentifier(of worker: WorkerSupervisor) throws -> Int32 {
        guard let identifier = worker.identifier else { throw EnvironmentFailure("a worker is not there") }
        return identifier
    }

    /// No file descriptor is left just when all connections have to be made again.
    static let workerOutOfFiles = Scenario(
        name: "worker-out-of-files", domain: .worker,
        sentence: "no file descriptor is left to two workers whose connections to broker and APNs are cut",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { environment in
        for worker in environment.workers {
            let identifier = try processIdentifier(of: worker)
            // As many as are open: nothing is closed, and nothing can be opened.
            let count = try ProcessStatus.openFileCount(of: identifier)
            try await ResourceLimit.set("--nofile=\(count - 4):", of: identifier, in: environment.folder)
        }
        try await cutConnections(of: environment, "out of files")
        try await Pause.seconds(environment.draw(4...6))
        for worker in environment.workers {
            guard let identifier = worker.identifier else { continue }
            try await ResourceLimit.set("--nofile=1024:", of: identifier, in: environment.folder)
        }
        try await environment.waitUntilReady()
    }

    /// No memory is left just when connections have to be made again, and then a worker is started with too little.
    static let workerOutOfMemory = Scenario(
        name: "worker-out-of-memory", domain: .worker,
        sentence:
            "no address space is left to one of two workers whose connections are cut; then it is started with less",
        setting: Setting(isBrokerPrivate: true), redeliveries: 6, mayEndWorkers: true
    ) { environment in
        let worker = environment.drawWorker()
        let identifier = try processIdentifier(of: worker)
        let bytes = try 1_024 * ProcessStatus.kibibytes("VmSize", of: identifier)
        try await ResourceLimit.set("--as=\(bytes):", of: identifier, in: environment.folder)
        try await cutConnections(of: environment, "out of memory")
        try await Pause.seconds(environment.draw(3...5))
        environment.say("the worker \(worker.identifier == identifier ? "lives on" : "died")")
        let fewer = Int(Double(bytes) * environment.draw(0.3...0.9))
        worker.setPrefix(["/usr/bin/prlimit", "--as=\(fewer):"])
        try await worker.endBySignal(SIGKILL)
        let startCount = worker.startCount
        try await Pause.seconds(environment.draw(3...5))
        environment.say("with \(fewer) bytes it was started \(worker.startCount - startCount) times more")
        worker.setPrefix([])
        try await worker.endBySignal(SIGKILL)
        try await environment.waitUntilReady()
    }

    /// Small enough for several chunks of each announcement.
    private static let smallChunks = "[fanout]\nthreshold_devices = 250\nchunk_devices = \(Environment.chunkDevices)"

    /// Workers die one after the other while events go to many devices.
    static let fanoutWorkerKill = Scenario(
        name: "fanout-worker-kill", domain: .worker,
        sentence: "SIGKILL to one of three workers after the other while one event of 300 goes to 600 devices",
        setting: Setting(workers: 3, workerConfiguration: smallChunks, loadSeconds: 12, announcementInterval: 300),
        redeliveries: 6
    ) { environment in
        for _ in 0..<2 {
            for worker in environment.workers {
                try await Pause.seconds(environment.draw(0.2...1))
                try await worker.endBySignal(SIGKILL)
            }
        }
        try await environment.waitUntilReady()
    }

    /// The broker dies while events go to many devices.
    static let fanoutBrokerKill = Scenario(
        name: "fanout-broker-kill", domain: .broker,
        sentence: "SIGKILL to the only RabbitMQ node while one event of 300 goes to 600 devices",
        setting: Setting(
            workers: 3, isBrokerPrivate: true, workerConfiguration: smallChunks, loadSeconds: 12,
            announcementInterval: 300), redeliveries: 3
    ) { environment in
        let broker = try environment.broker
        try await broker.writeOutMetadata()
        try broker.kill()
        try await broker.startAgain()
        try await environment.waitUntilReady()
    }
}
