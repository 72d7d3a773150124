import PushTestKit

extension Stage {
    /// Now and then APNs is not available, so that events are parked and retried throughout.
    static let usualFaults =
        #"{"fault":"answer","status":503,"reason":"ServiceUnavailable","probability":0.02}"# + "\n"

    /// What the simulator does wrong from the start.
    var standingFaults: String { Self.usualFaults + scenario.setting.simulatorFaults }

    /// Ends what a scenario lets APNs do wrong; what it does from the start goes on.
    func endFaultsOfAPNs() async throws {
        try await simulator.control(#"{"clear":true}"#)
        for line in standingFaults.split(separator: "\n") { try await simulator.control(String(line)) }
    }
}
