import Glibc
import PushTestKit

/// A fault that a soak draws again and again; the first worker is never ended, so that its memory can be watched.
enum SoakFault: String, CaseIterable, Sendable {
    case workerKill, workerTerminate, workerStop, connectionsClosed, brokerKill, brokerStop, memoryAlarm, apnsGoAway,
        apnsSilence, apnsReset

    /// Brings it about and ends it.
    func strike(_ stage: Stage) async throws {
        let other = stage.workers[stage.workers.count - 1]
        switch self {
        case .workerKill: try await other.endBySignal(SIGKILL)
        case .workerTerminate: try await other.endBySignal(SIGTERM)
        case .workerStop:
            other.signal(SIGSTOP)
            try await Pause.seconds(stage.draw(1...8))
            other.signal(SIGCONT)
        case .connectionsClosed: try await stage.broker.control("close_all_connections", "soak")
        case .brokerKill:
            try await stage.broker.writeOutQueues()
            try stage.broker.kill()
            try await stage.broker.startAgain()
        case .brokerStop:
            try stage.broker.pause()
            try await Pause.seconds(stage.draw(1...15))
            try stage.broker.resume()
        case .memoryAlarm:
            try await stage.broker.control("set_vm_memory_high_watermark", "0")
            try await Pause.seconds(stage.draw(1...5))
            try await stage.broker.control("set_vm_memory_high_watermark", "0.4")
        case .apnsGoAway: try await disturb(stage, #"{"fault":"goaway","last":"previous","probability":0.05}"#)
        case .apnsSilence: try await disturb(stage, #"{"fault":"silence","probability":0.2}"#)
        case .apnsReset: try await disturb(stage, #"{"fault":"reset-stream","error":2,"probability":0.2}"#)
        }
    }

    /// How often what all workers hold may come again by it, and be pushed again.
    ///
    /// What APNs has processed without an answer reaching the worker is pushed again as well.
    var redeliveries: Int {
        switch self {
        case .workerTerminate, .memoryAlarm: 0
        case .workerKill, .workerStop: 1
        case .connectionsClosed, .brokerKill, .brokerStop, .apnsGoAway, .apnsSilence, .apnsReset: 2
        }
    }

    private func disturb(_ stage: Stage, _ line: String) async throws {
        try await stage.simulator.control(line)
        try await Pause.seconds(stage.draw(1...5))
        try await stage.endFaultsOfAPNs()
    }
}
