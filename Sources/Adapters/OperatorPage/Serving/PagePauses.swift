/// Keeps the pauses that the page shows and changes: an operator has made the pushes of an app, or of all, wait.
public protocol PagePauses: Sendable {
    /// The pauses in force.
    func pauses() async throws -> [PagePause]

    /// Pauses an app, or all if it is nil; a second pause of the same replaces the first.
    func pause(_ pause: PagePause) async throws

    /// Ends the pause of an app, or the pause of all if it is nil; the answer is false if there was none.
    func resume(app: String?) async throws -> Bool
}

/// A pause by an operator.
public struct PagePause: Hashable, Sendable {
    /// The app; nil for all.
    public var app: String?
    /// Why, for other operators.
    public var reason: String
    /// Who paused it.
    public var user: String
    /// When, in milliseconds since 1970.
    public var atMilliseconds: Int64

    /// Describes a pause.
    public init(app: String?, reason: String, user: String, atMilliseconds: Int64) {
        self.app = app
        self.reason = reason
        self.user = user
        self.atMilliseconds = atMilliseconds
    }
}
