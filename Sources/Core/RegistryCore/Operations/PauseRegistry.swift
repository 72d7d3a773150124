/// The registry's part of pausing: which apps an operator has paused, so that every worker knows, and still knows after
/// a restart.
///
/// The same store as `Registry`, with the same rules. In a registry of an older schema nothing is paused.
public protocol PauseRegistry: AnyObject {
    /// The pauses in force, by the name of the app; that of all apps comes first.
    func pauses() throws(RegistryError) -> [AppPause]

    /// Pauses an app or all; another pause of the same takes the place of the first.
    ///
    /// It survives a loss of power when the call returns.
    ///
    /// - Throws: `RegistryError`, `.invalid` if the reason is longer than `AppPause.reasonBytesMaximum`, `.olderSchema`
    ///   if the registry has to be migrated first.
    func setPause(_ pause: AppPause) throws(RegistryError)

    /// Ends the pause of an app, or the pause of all if it is nil.
    ///
    /// - Returns: whether there was such a pause.
    func removePause(app: String?) throws(RegistryError) -> Bool
}
