/// The Python script that drives the registry's API with boto3, Amazon's own client.
public enum BotoScript {
    /// Runs the script.
    ///
    /// - Parameters:
    ///   - arguments: the endpoint, the scenario, and what the scenario takes.
    ///   - environment: the variables to set.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error that says why it cannot be started.
    public static func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> CommandResult {
        // This file lies in Sources/Support/PushTestKit/Processes.
        let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
        let own = ["AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "PYTHONWARNINGS": "ignore"]
        return try await CommandRunner.run(
            "/usr/bin/python3", ["/\(root)/Tests/Adapters/RegistryAPITests/Scripts/cognito_sync.py"] + arguments,
            environment: own.merging(environment) { _, given in given }, in: folder)
    }
}
