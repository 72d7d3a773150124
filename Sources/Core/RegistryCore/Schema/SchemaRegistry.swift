/// The schema of a registry, for features that need a migration.
public protocol SchemaRegistry: AnyObject {
    /// The migrations that the program knows.
    var migrations: SchemaMigrations { get }

    /// The registry, without a password, for people.
    var location: String { get }

    /// The schema of the registry as it is now; another process may migrate it at any moment.
    func schemaState() throws(RegistryError) -> SchemaState
}

extension SchemaRegistry {
    /// Returns the warning about migrations that wait; nil if there are none.
    public func schemaWarning() throws(RegistryError) -> String? {
        let state = try schemaState()
        guard state.version < migrations.newest else { return nil }
        return "\(location) has the schema version \(state.version), and version \(migrations.newest) is waiting; "
            + "features that need it are off until 'apus registry migrate' was run"
    }

    /// Makes sure that the registry has the tables of a feature.
    ///
    /// - Parameters:
    ///   - version: the version of the migration that brought them.
    ///   - feature: the feature, as the subject of a sentence.
    /// - Throws: `RegistryError` with `.olderSchema` and the command that helps, if it has not.
    public func requireSchema(_ version: Int64, for feature: String) throws(RegistryError) {
        let found = try schemaState().version
        guard found < version else { return }
        throw RegistryError(
            .olderSchema,
            "\(feature) needs the schema version \(version) of the registry, which has \(found). Run 'apus registry "
                + "migrate', which needs no pause of the workers.")
    }

    /// Makes sure that the registry has room for the addresses of these devices.
    ///
    /// - Throws: `RegistryError` with `.olderSchema` and the command that helps, if it has not.
    public func requireSchema(forAddressesOf devices: some Sequence<Device>) throws(RegistryError) {
        guard devices.contains(where: { AddressKey($0.token, $0.platform).isMarked }) else { return }
        try requireSchema(
            AddressKey.schemaVersion,
            for: "An address of ADM or WEB_PUSH, an installation ID, or a token of more than "
                + "\(AddressKey.bytesMaximum) bytes")
    }
}

/// Does and undoes the migrations of one registry.
///
/// Calls are synchronous and come from one thread. It opens a registry of any version, so a program can migrate a
/// registry that it cannot use yet.
public protocol RegistryMigrator: SchemaRegistry {
    /// Does one step in a transaction of its own, which other migrators wait for.
    ///
    /// - Parameter step: a step of a plan for this registry.
    /// - Returns: false if another process has done it meanwhile.
    /// - Throws: `RegistryError` if it failed; then nothing has changed.
    func perform(_ step: MigrationStep) throws(RegistryError) -> Bool
}
