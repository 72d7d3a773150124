import JSON
import PushTestKit

extension Stage {
    /// The devices that the workers have removed; one that no answer called dead is a problem.
    ///
    /// - Parameter deadTokens: the tokens that APNs has called dead or bad.
    /// - Returns: the devices that are no longer registered.
    /// - Throws: `StageFailure` if the registry cannot be read.
    func removedDevices(calledDead deadTokens: Set<String>) async throws -> [Int] {
        let list = try await apus("device", "list", "--json")
        guard list.exitCode == 0 else { throw StageFailure("device list: \(list.errors)") }
        let parser = JSONParser()
        let registered = Set(
            list.output.split(separator: "\n").compactMap { (try? parser.parse(Array($0.utf8)))?["deviceId"]?.string })
        let removed = population.deviceRange.filter { !registered.contains(Population.deviceText($0)) }
        for device in removed where !deadTokens.contains(population.token(of: device)) {
            report(problem: "device \(device) was removed, and no answer had called its token dead")
        }
        return removed
    }
}
