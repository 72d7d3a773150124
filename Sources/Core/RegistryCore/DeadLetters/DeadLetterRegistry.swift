public import Messages

/// The store of dead letters that were collected from their queue, where each has an identity and a place.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use the store at once.
public protocol DeadLetterRegistry: AnyObject {
    /// Keeps letters in their order, all or none; they survive a loss of power when the call returns.
    ///
    /// A letter with a known identifier is a redelivery and changes nothing.
    ///
    /// - Returns: how many were not there.
    func addDeadLetters(_ letters: [DeadLetter]) throws(RegistryError) -> Int

    /// Letters in the order in which they were added, after the one with a number, or from the first with 0.
    func deadLetters(
        matching filter: DeadLetterFilter, after number: Int64, limit: Int
    ) throws(RegistryError) -> [DeadLetterSummary]

    /// How many letters there are of each reason and app, in the order of reason and app; those of no app come first.
    func deadLetterCounts(matching filter: DeadLetterFilter) throws(RegistryError) -> [DeadLetterCount]

    /// The number of the newest letter; 0 if there is none.
    func newestDeadLetterNumber() throws(RegistryError) -> Int64

    /// The messages of letters by their numbers, without missing ones.
    func deadLetterMessages(_ numbers: [Int64]) throws(RegistryError) -> [Int64: Message]

    /// Removes letters by their numbers; they stay removed after a loss of power.
    ///
    /// - Returns: how many were there.
    func removeDeadLetters(_ numbers: [Int64]) throws(RegistryError) -> Int
}

/// Limits that all stores of dead letters keep.
enum DeadLetterRules {
    /// Up to how many bytes of bodies are read or written at once; a single letter may be larger.
    static let batchBytesMaximum = 8 * 1024 * 1024
}
