/// Faults that the simulator is to have from the start: JSON objects, one a line, as `apus simulate --help` lists them.
public struct SimulatorFaults: Sendable {
    let rules: [FaultRule]

    /// A simulator that behaves.
    public static let none = SimulatorFaults(rules: [])

    private init(rules: [FaultRule]) { self.rules = rules }

    /// Reads faults.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `SimulatorError` (`scriptInvalid`) with the number of the first line that is wrong.
    public init(parsing bytes: [UInt8]) throws(SimulatorError) { rules = try FaultRule.parse(lines: bytes) }
}
