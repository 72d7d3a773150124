import PostgresRegistry
public import PushCore
import SQLiteRegistry

extension Configuration.RegistryLocation {
    /// Reads what a command was given: `sqlite:PATH`, `postgresql://…`, or `@FILE`, a file that holds one of these.
    ///
    /// - Parameter operand: the text; a relative path begins at the working folder.
    /// - Throws: `RegistryError` with `.unavailable` if there is no such file, `.invalid` if it is none of these.
    public init(operand: String) throws(RegistryError) {
        var url = operand
        if operand.hasPrefix("@") {
            let path = String(operand.dropFirst())
            do throws(SmallFile.Failure) {
                url = String(decoding: try SmallFile.read(path), as: UTF8.self)
            } catch {
                throw RegistryError(.unavailable, "cannot read \(path): \(error.message); \(error.remedy)")
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

    /// What to say of files that others than their owner may use; empty if there are none.
    public var modeWarnings: [String] {
        switch self {
        case .sqlite(let path): SQLiteRegistry.modeWarnings(path: path)
        case .postgres: []
        }
    }

    /// Opens the registry with all its ports.
    ///
    /// - Parameter mode: what may be done with it.
    /// - Returns: the registry, to be used by one thread at a time.
    /// - Throws: `RegistryError` as `SQLiteRegistry.open` and `PostgresRegistry.open`.
    public func open(mode: RegistryOpenMode) throws(RegistryError) -> any RegistryCopy.Store {
        switch self {
        case .sqlite(let path): try SQLiteRegistry.open(path: path, mode: mode)
        case .postgres(let url): try PostgresRegistry.open(url: url.revealed, mode: mode)
        }
    }
}
