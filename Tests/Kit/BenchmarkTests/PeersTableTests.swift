import Testing

@testable import apus_benchmarks

@Suite("Benchmarks: the table of the workers of others")
struct PeersTableTests {
    @Test("The table has a line for each worker of each workload and for h2load, and dashes where nothing was measured")
    func lines() {
        let lines = PeersTable(of: []).text.split(separator: "\n")
        let workers = PeerWorkload.allCases.reduce(0) { $0 + $1.workers.count + 1 }
        #expect(lines.count == 2 + PeerRegistry.allCases.count * workers)
        #expect(lines[2] == "| one to one, SQLite | **Apus** | — | — |  |  |")
    }

    @Test("A line shows the figures that a report has for its worker")
    func figures() throws {
        let report = Report()
        let figures = PeerRun.Figures(
            perSecond: 50_000, microseconds: 15.04, percent: 91, otherPercent: 90, mebibytes: 46.3)
        PeersReport(report: report, stage: "one_to_one_sqlite", workload: .oneToOne).add(
            [.apus: [figures]], tool: [LoadTool.Figures(perSecond: 250_000, microseconds: 3)],
            bareConsumerMicroseconds: [6])
        let lines = PeersTable(of: report.results).text.split(separator: "\n")
        #expect(lines[2] == "| one to one, SQLite | **Apus** | 50 000 | 15.0 | 91 % | 46 MiB |")
        #expect(lines[6] == "|  | h2load, pushes only | 250 000 | 3.0 |  |  |")
        let floor = try #require(report.results.first { $0.name.contains("beside_floor") })
        #expect(floor.reference == 9)
        #expect(floor.met == false)
    }

    @Test("A share below its budget is missed, and has none while the other processor is full")
    func share() {
        func met(otherPercent: Double) -> Bool? {
            let report = Report()
            let figures = PeerRun.Figures(
                perSecond: 90_000, microseconds: 9, percent: 80, otherPercent: otherPercent, mebibytes: 40)
            PeersReport(report: report, stage: "one_to_one_sqlite", workload: .oneToOne)
                .add([.apus: [figures]], tool: [], bareConsumerMicroseconds: [])
            return report.results.first { $0.name == "share_of_core_peers_one_to_one_sqlite_apus" }?.met
        }
        #expect(met(otherPercent: 60) == false)
        #expect(met(otherPercent: 99) == nil)
    }
}
