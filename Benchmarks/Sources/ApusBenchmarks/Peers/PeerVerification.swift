import JSON
import PushTestKit

/// Holds the pushes of a worker against the events that it got.
struct PeerVerification {
    /// A push: the device's token, and the sync count that its payload has; none for a requested push.
    private struct Push: Hashable {
        var token: String
        var syncCount: String?
    }

    let workload: PeerWorkload
    /// The numbers of the events; event n of them is for the identity n, counted around.
    let events: Range<Int>

    /// Throws `BenchmarkFailure` unless each device of each event got exactly one push, and nobody else did.
    func check(_ recordPath: String, of worker: PeerWorker) throws {
        var open: [Push: Int] = [:]
        for (index, number) in events.enumerated() {
            let first = index % workload.identities * workload.audience
            let syncCount = workload.isRequested ? nil : "\(number)"
            for device in first..<first + workload.audience {
                open[Push(token: TestDevices.token(device), syncCount: syncCount), default: 0] += 1
            }
        }
        var record = SimulatorRecord(path: recordPath)
        while true {
            let some = try record.next { request -> Push? in
                Push(token: request.token, syncCount: request.payload?["data"]?["syncCount"]?.string)
            }
            if some.isEmpty { break }
            for push in some { open[push, default: 0] -= 1 }
        }
        let missing = open.values.count { $0 > 0 }
        let unwanted = open.values.count { $0 < 0 }
        guard missing == 0, unwanted == 0 else {
            throw BenchmarkFailure(
                description: """
                    the worker in \(worker.rawValue) left out \(missing) of \(events.count * workload.audience) \
                    pushes, and made \(unwanted) that nobody asked for
                    """)
        }
    }
}
