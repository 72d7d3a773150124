import APNsSimulator
import Dispatcher
import Glibc
import RegistryCore
import WorkerConfiguration

/// A set-up for one machine, in which the simulator stands in for APNs: what `apus init --local` writes.
struct LocalSetUp {
    private static let apnsAddress = "127.0.0.1:8443"
    private static let keyFile = "AuthKey_ABC123DEFG.p8"
    private static let accessKeysFile = "access-keys"
    private static let trustAnchorFile = "ca.pem"
    private static let registryFile = "registry.db"

    /// The configuration; its relative paths begin at its own folder.
    static let configuration = SampleConfiguration.text(overriding: [
        "registry.listen": #""127.0.0.1:8080""#, "registry.events": "true",
        "registry.access_keys_file": "\"\(accessKeysFile)\"",
        "events.history": #""24h""#, "worker.declare_topology": "true", "app.apns.endpoint": "\"\(apnsAddress)\"",
        "app.apns.ca_file": "\"\(trustAnchorFile)\"",
    ])

    /// The folder of the configuration, with a slash at the end; empty for the working folder.
    private let folder: String

    init(configurationFile path: String) {
        var folder = path
        while let last = folder.last, last != "/" { folder.removeLast() }
        self.folder = folder
    }

    /// Makes the files beside the configuration: keys and a registry.
    ///
    /// A file that is there is kept, because a key cannot be had again.
    ///
    /// - Returns: the names of the new files.
    /// - Throws: `CommandFailure` if one cannot be written.
    func makeFiles() throws -> [String] {
        var made: [String] = []
        if try makeSecret(Self.keyFile, SimulatorKey.makePrivateKeyPEM()) { made.append(Self.keyFile) }
        let words = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        if try makeSecret(Self.accessKeysFile, "AKID\(words[0].uppercased()) \(words.joined())\n") {
            made.append(Self.accessKeysFile)
        }
        let isNew = access(folder + Self.registryFile, F_OK) != 0
        try DeviceRegistry.rephrasing {
            _ = try Configuration.RegistryLocation.sqlite(path: folder + Self.registryFile).open(mode: .create)
        }
        return isNew ? made + [Self.registryFile] : made
    }

    /// The lines that say what to do next.
    static let advice = """
        Next, with RabbitMQ on this machine:
          apus simulate --listen \(apnsAddress) --key-file \(keyFile) --ca-out \(trustAnchorFile) \\
            --record pushes.ndjson &
          apus run
        Then publish in another terminal:
          apus device add --app chat --user mei --token 00fc13adff785122b4ad28809a342098
          apus publish --type push.requested --app chat --user-id mei --title Hello
        To push to Apple: change the [[app]], and remove endpoint and ca_file.
        """

    private func makeSecret(_ name: String, _ text: String) throws(CommandFailure) -> Bool {
        guard access(folder + name, F_OK) != 0 else { return false }
        try SimulateFiles.writeSecret(text, to: folder + name)
        return true
    }
}
