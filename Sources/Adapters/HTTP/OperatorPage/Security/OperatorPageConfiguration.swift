public import ChangeEvents
public import DispatchCore
internal import EventLoop

/// Where the page is, who may use it, and what it shows.
public struct OperatorPageConfiguration: Sendable {
    /// The path below which everything of the page is, with a slash at its beginning and none at its end.
    public var path: String
    /// The name of this process among the workers.
    public var process: String
    /// The version of the program.
    public var version: String
    /// The configured apps.
    public var apps: [PipelineConfiguration.App] = []
    /// The tables whose changed rows are events.
    public var sources = TableSources()
    /// The names of the apps.
    var appNames: [String] { apps.map(\.name) }
    /// Reads the file of users, on the page's own thread; nil if there is none.
    public var readUsers: (@Sendable () throws -> [UInt8])?
    /// The monotonic time by which wrong passwords are forgotten, and right ones.
    public var nowNanoseconds: @Sendable () -> UInt64 = { MonotonicClock.nowNanoseconds() }
    /// The header in which a trusted proxy names the user; empty if none is trusted.
    public var userHeader = ""
    /// The addresses of the trusted proxies, in numbers.
    public var trustedProxies: [String] = []
    /// The users of the proxy who may act; `*` for all.
    public var operators: [String] = []
    /// The origins besides its own from which the page may be used.
    public var allowedOrigins: [String] = []
    /// Whether the server answers for every host, so that a name of another site may lead to it.
    public var servesAllHosts = false
    /// Whether workers keep what became of events.
    public var keepsHistory = false
    /// Whether the values in the payloads of dead letters are shown.
    public var showsPayloads = false

    /// Describes a page without a login, which this machine's users alone may use.
    public init(path: String, process: String, version: String) {
        self.path = path
        self.process = process
        self.version = version
    }

    /// Whether somebody beyond this machine could use the page.
    public var hasLogin: Bool { readUsers != nil || !userHeader.isEmpty }
}
