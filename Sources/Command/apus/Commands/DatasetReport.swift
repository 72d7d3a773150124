import PushCore

/// What the commands about datasets have in common: their operands, and what they print.
enum DatasetReport {
    /// The device and the datasets that were named.
    ///
    /// - Parameters:
    ///   - invocation: the use of the command.
    ///   - mayBeOnlyDevice: whether the datasets may be left out.
    /// - Returns: the identifier and the names.
    /// - Throws: `CommandFailure` if no dataset was named.
    static func operands(
        _ invocation: CommandInvocation, mayBeOnlyDevice: Bool = false
    ) throws(CommandFailure) -> (deviceID: String, names: [String]) {
        let names = Array(invocation.operands.dropFirst())
        guard let deviceID = invocation.operands.first else { throw .usage("DEVICE is missing") }
        guard mayBeOnlyDevice || !names.isEmpty else { throw .usage("DATASET is missing") }
        return (deviceID, names)
    }

    /// Prints what the device is subscribed to now.
    static func write(_ deviceID: String, _ registry: any Registry, _ invocation: CommandInvocation) throws {
        let subscriptions = try registry.datasetSubscriptions(of: deviceID)
        if invocation.isJSON {
            invocation.output.line(DeviceReport.json(subscriptions, of: deviceID))
            return
        }
        for name in subscriptions.datasetNames { invocation.output.line(name) }
        if subscriptions.includesFuture { invocation.output.line("*") }
    }
}
