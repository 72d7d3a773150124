import Glibc
import PushTestKit

extension Scenario {
    /// Makes the workers connect anew, to broker and APNs.
    private static func cutConnections(of stage: Stage, _ reason: String) async throws {
        try await stage.broker.control("close_all_connections", reason)
        try await stage.simulator.control(#"{"fault":"goaway","last":"none","times":4}"#)
    }

    private static func processIdentifier(of worker: WorkerSeat) throws -> Int32 {
        guard let identifier = worker.identifier else { throw StageFailure("a worker is not there") }
        return identifier
    }

    /// No file descriptor is left just when all connections have to be made anew.
    static let workerOutOfFiles = Scenario(
        name: "worker-out-of-files", domain: .worker,
        sentence: "no file descriptor is left to two workers whose connections to broker and APNs are cut",
        setting: Setting(isBrokerPrivate: true), redeliveries: 2
    ) { stage in
        for worker in stage.workers {
            let identifier = try processIdentifier(of: worker)
            // As many as are open: nothing is closed, and nothing can be opened.
            let count = try ProcessStatus.openFileCount(of: identifier)
            try await ResourceLimit.set("--nofile=\(count - 4):", of: identifier, in: stage.folder)
        }
        try await cutConnections(of: stage, "out of files")
        try await Pause.seconds(stage.draw(4...6))
        for worker in stage.workers {
            guard let identifier = worker.identifier else { continue }
            try await ResourceLimit.set("--nofile=1024:", of: identifier, in: stage.folder)
        }
        try await stage.waitUntilReady()
    }

    /// No memory is left just when connections have to be made anew, and then a worker is started with too little.
    static let workerOutOfMemory = Scenario(
        name: "worker-out-of-memory", domain: .worker,
        sentence:
            "no address space is left to one of two workers whose connections are cut; then it is started with less",
        setting: Setting(isBrokerPrivate: true), redeliveries: 6, mayEndWorkers: true
    ) { stage in
        let worker = stage.drawWorker()
        let identifier = try processIdentifier(of: worker)
        let bytes = try 1_024 * ProcessStatus.kibibytes("VmSize", of: identifier)
        try await ResourceLimit.set("--as=\(bytes):", of: identifier, in: stage.folder)
        try await cutConnections(of: stage, "out of memory")
        try await Pause.seconds(stage.draw(3...5))
        stage.say("the worker \(worker.identifier == identifier ? "lives on" : "died")")
        let fewer = Int(Double(bytes) * stage.draw(0.3...0.9))
        worker.setPrefix(["/usr/bin/prlimit", "--as=\(fewer):"])
        try await worker.endBySignal(SIGKILL)
        let startCount = worker.startCount
        try await Pause.seconds(stage.draw(3...5))
        stage.say("with \(fewer) bytes it was started \(worker.startCount - startCount) times more")
        worker.setPrefix([])
        try await worker.endBySignal(SIGKILL)
        try await stage.waitUntilReady()
    }
}
