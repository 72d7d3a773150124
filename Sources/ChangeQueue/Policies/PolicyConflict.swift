/// A setting of a policy that changes what a queue of ours does.
public struct PolicyConflict: Hashable, Sendable {
    /// The setting, for example `overflow = drop-head`.
    public let setting: String
    /// What comes of it.
    public let effect: String
    /// Whether messages can be lost by it.
    public let losesMessages: Bool

    init(_ setting: String, _ effect: String, losesMessages: Bool) {
        self.setting = setting
        self.effect = effect
        self.losesMessages = losesMessages
    }

    /// The setting and what comes of it.
    public var description: String { "\(setting): \(effect)" }
}
