import JSON
import PushTestKit
import Testing

@Suite("apus plan")
struct PlanCommandTests {
    @Test("A load twice as large needs more cores, and a figure has its rule")
    func planForLoad() async throws {
        let folder = try TemporaryFolder()
        func plan(_ eventsPerSecond: String) async throws -> JSONValue {
            let end = try await CommandRunner.apus(
                [
                    "plan", "--devices", "1e6", "--events-per-second", eventsPerSecond, "--registry", "sqlite",
                    "--json",
                ], in: folder)
            try #require(end.exitCode == 0, "\(end)")
            return try JSONParser().parse(Array(end.output.utf8))
        }
        let (one, two) = (try await plan("100000"), try await plan("200000"))
        let cores = try #require(one["figures"]?["cores"])
        #expect(cores["rule"]?.string?.isEmpty == false && one["limit"]?.string?.isEmpty == false)
        #expect(try number(two["figures"]?["cores"]) > number(cores))
    }

    private func number(_ figure: JSONValue?) throws -> Double {
        let value = try #require(figure?["value"])
        return try #require(value.double ?? value.int64.map(Double.init))
    }

    @Test(
        "A number that cannot be is refused with the rule, and the exit code of a wrong command line",
        arguments: [
            (["--devices", "-1", "--events-per-second", "1"], "--devices takes a number from 0"),
            (["--devices", "10", "--events-per-second", "nan"], "--events-per-second takes a number from 0"),
            (["--devices", "10", "--events-per-second", "1", "--audience", "11"], "--audience is more than --devices"),
            (["--devices", "10", "--events-per-second", "1", "--registry", "x"], "sqlite or postgresql, not 'x'"),
            (["--events-per-second", "1"], "--devices"),
        ])
    func refusals(arguments: [String], message: String) async throws {
        let end = try await CommandRunner.apus(["plan"] + arguments, in: try TemporaryFolder())
        #expect(end.exitCode == 64 && end.errors.contains(message), "\(end)")
    }
}
