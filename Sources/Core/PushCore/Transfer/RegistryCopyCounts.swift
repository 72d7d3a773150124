/// How far a copy of a registry has come.
public struct RegistryCopyCounts: Hashable, Sendable {
    /// The things that are copied, in this order, because later ones refer to earlier ones.
    public enum Kind: String, CaseIterable, Sendable {
        /// Datasets that identities are known to have.
        case datasets
        /// Users' subscriptions to topics.
        case topicUsers
        /// Devices with their subscriptions to datasets and topics.
        case devices
        /// Subscriptions to records.
        case subscriptions
        /// Tokens of the registry's API.
        case tokens
        /// Configurations of identity pools.
        case poolConfigurations
        /// Dead letters that were collected.
        case deadLetters
    }

    /// How many identifiers of dead letters that were left out are kept, so that memory is bounded.
    static let leftOutFirstMaximum = 10

    /// How many were read from the source.
    public var read: [Kind: Int] = [:]
    /// How many of them the target did not have, or had otherwise; datasets and users' topics are handed over without
    /// a comparison and do not count.
    public var written: [Kind: Int] = [:]
    /// How many of the dead letters that were read were left out, because a replay of them needs rows of the source.
    public var deadLettersLeftOut = 0
    /// The identifiers of the first of them.
    public var deadLettersLeftOutFirst: [String] = []
    /// Whether the target had another courier key, which it keeps.
    public var keepsOtherCourierKey = false
    /// What is being copied.
    public var current = Kind.datasets

    /// Nothing yet.
    public init() {}
}
