public import Backoffice
import PostgresRegistry
public import RegistryCore
import SQLiteRegistry
public import WorkerConfiguration

/// All ports of a registry.
public typealias RegistryStore = AuditRegistry & CampaignRegistry & CourierRegistry & EventMemoryRegistry
    & FanOutRegistry & OutcomeHistoryRegistry & OutcomeOutboxRegistry & QuotaRegistry & RegistryCopy.Store
    & SchemaRegistry & WorkerReportRegistry

extension Configuration.RegistryLocation {
    /// Reads a command's operand: `sqlite:PATH`, `postgresql://…`, or `@FILE`, a file that holds one of these.
    ///
    /// - Parameter operand: the text; a relative path begins at the working folder.
    /// - Throws: `RegistryError` with `.unavailable` if there is no such file, `.invalid` if it is none of these.
    public init(operand: String) throws(RegistryError) {
        var url = operand
        if operand.hasPrefix("@") {
            let path = String(operand.dropFirst())
            do throws(ConfigurationFile.Failure) {
                url = String(decoding: try ConfigurationFile.read(path), as: UTF8.self)
            } catch {
                throw RegistryError(.unavailable, "cannot read \(path): \(error)")
            }
            while let last = url.last, last.isWhitespace { url.removeLast() }
        }
        guard let location = Self(url: url) else {
            throw RegistryError(
                .invalid, "A registry is sqlite:PATH, postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or @FILE.")
        }
        self = location
    }

    private init?(url: String) {
        if url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") {
            self = .postgres(url: Secret(url))
            return
        }
        guard url.hasPrefix("sqlite:") else { return nil }
        var path = url.dropFirst("sqlite:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        guard !path.isEmpty, path != ":memory:" else { return nil }
        self = .sqlite(path: String(path))
    }

    /// The warnings about files that users other than their owner may access; may be empty.
    public var modeWarnings: [String] {
        switch self {
        case .sqlite(let path): SQLiteRegistry.modeWarnings(path: path)
        case .postgres: []
        }
    }

    /// Opens the registry, whatever version it has, to migrate it.
    ///
    /// - Throws: `RegistryError` with `.unavailable` if it is missing or out of reach, `.readOnly`.
    public func migrator() throws(RegistryError) -> any RegistryMigrator {
        switch self {
        case .sqlite(let path): try SQLiteMigrator(path: path)
        case .postgres(let url): try PostgresMigrator(url: url.revealed)
        }
    }

    /// Opens the registry.
    ///
    /// - Parameters:
    ///   - mode: the access that is wanted.
    ///   - quotas: how much may be kept.
    ///   - lockMilliseconds: how long a call waits for another session's lock; nil for as long as the store sees fit.
    /// - Returns: the registry, to be used by one thread at a time.
    /// - Throws: `RegistryError` as `SQLiteRegistry.open` and `PostgresRegistry.open`.
    public func open(
        mode: RegistryOpenMode, quotas: RegistryQuotas = .unlimited, lockMilliseconds: Int? = nil
    ) throws(RegistryError) -> sending any RegistryStore {
        try open(
            mode: mode, quotas: quotas, lockMilliseconds: lockMilliseconds, sqlite: { $0 }, postgres: { $0 })
    }

    /// Opens the registry through the ports that a part of the program uses.
    ///
    /// The compiler would not let a registry with all ports be made one with a few, and then be sent to a loop.
    func open<Ports>(
        mode: RegistryOpenMode, quotas: RegistryQuotas = .unlimited, lockMilliseconds: Int? = nil,
        sqlite: @Sendable (SQLiteRegistry) -> Ports, postgres: @Sendable (PostgresRegistry) -> Ports
    ) throws(RegistryError) -> sending Ports {
        switch self {
        case .sqlite(let path):
            let registry = try SQLiteRegistry.open(path: path, mode: mode)
            // Not before, because opening waits for a process that makes the tables.
            if let lockMilliseconds { registry.setBusyTimeout(milliseconds: lockMilliseconds) }
            registry.quotas = quotas
            return sqlite(registry)
        case .postgres(let url):
            let registry = try PostgresRegistry.open(
                url: url.revealed, mode: mode, lockMilliseconds: lockMilliseconds)
            registry.quotas = quotas
            return postgres(registry)
        }
    }
}
