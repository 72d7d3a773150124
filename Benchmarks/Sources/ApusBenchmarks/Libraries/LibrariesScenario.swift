import Foundation
import Notifications
import PushTestKit

/// Our clients of FCM and Web Push beside libraries that others send with, each alone on a processor, in turns.
///
/// The simulators have the other processor, and accept everything unseen. A queue and a registry have no part in it.
struct LibrariesScenario {
    private static let rounds = Scale.of(3, small: 1)
    private static let connections = 2

    let bench: Workbench
    let report: Report

    func run() async throws {
        try await bench.move(toProcessor: PeerRun.otherProcessor)
        let fcm = try await SimulatorProcess.startFCM(in: bench.temporary, ["--trusting"])
        let webPush = try await WebPushClientRun.startSimulator(on: bench)
        let run = try WebPushClientRun(bench: bench, simulator: webPush)
        // The library speaks HTTP/1.1 only, so it has a simulator of its own.
        let http1 = try await WebPushClientRun.startSimulator(on: bench, name: "webpush-http1", ["--http1"])
        let http1Run = try WebPushClientRun(bench: bench, simulator: http1, name: "webpush-http1")
        try await bench.move(toProcessor: PeerRun.workerProcessor)

        let firebase = SenderRun(
            bench: bench, library: .firebaseAdmin, simulator: fcm, job: try firebaseJob(fcm))
        let pywebpush = SenderRun(
            bench: bench, library: .pywebpush, simulator: http1, job: try pywebpushJob(http1, http1Run))
        let client = FCMClientRun(bench: bench, port: fcm.port)
        try await compare(firebase) {
            try await client.measure(count: Scale.of(200_000, small: 2_000), connections: Self.connections)
        }
        try await compare(pywebpush) { try await run.measure(count: Scale.of(15_000, small: 300), threads: 1) }
        for simulator in [fcm, webPush, http1] { await simulator.stop() }
        for line in LibrariesReport.table(of: report.results).split(separator: "\n") { Report.show(String(line)) }
    }

    private func compare(_ sender: SenderRun, _ measureOurs: () async throws -> LoadTool.Figures) async throws {
        var ours: [LoadTool.Figures] = []
        var theirs: [LoadTool.Figures] = []
        for _ in 0..<Self.rounds {
            theirs.append(try await sender.measure())
            ours.append(try await measureOurs())
        }
        LibrariesReport(report: report).add(sender.library, ours: ours, theirs: theirs)
    }

    // MARK: Jobs

    private func firebaseJob(_ simulator: SimulatorProcess) throws -> SenderJob {
        var job = SenderJob(simulator: simulator, anchor: bench.folder + "/fcm.pem")
        job.project = ServiceContent.project
        job.token = try ServiceContent.registrationToken().text(for: .gcm)
        job.title = ServiceContent.notification.title
        job.body = ServiceContent.notification.body
        return job
    }

    private func pywebpushJob(_ simulator: SimulatorProcess, _ run: WebPushClientRun) throws -> SenderJob {
        var job = SenderJob(simulator: simulator, anchor: bench.folder + "/webpush-http1.pem")
        job.key = bench.folder + "/key.p8"
        job.subject = "mailto:push@example.com"
        job.text = String(decoding: run.content.payload, as: UTF8.self)
        job.subscriptions = try run.subscriptions.map {
            try JSONDecoder().decode(SenderJob.Subscription.self, from: Data($0.utf8))
        }
        // It uses all of a processor with a few.
        job.connections = 16
        return job
    }
}
