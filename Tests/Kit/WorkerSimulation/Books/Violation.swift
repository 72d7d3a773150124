/// A promise that was broken, and when.
public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promises.
    public enum Promise: String, Hashable, Sendable {
        /// A confirmed event ends: each of its pushes is accepted, or there is a reason why not.
        case eventEnds = "every confirmed event ends"
        /// Nothing is settled before its pushes have ended or were confirmed as deferred.
        case settledLast = "nothing is settled before its pushes"
        /// Only what an event asks for is pushed.
        case pushAskedFor = "nothing is pushed that no event asks for"
        /// A device that the push service serves stays registered.
        case devicesStay = "no device is removed that the push service serves"
        /// The work under way of a worker is bounded.
        case bounds = "windows are bounded"
        /// An app that is served well does not wait for others.
        case noAppStarves = "no app starves"
        /// A worker announces no older state of a dataset after a newer one.
        case newestLast = "no older count follows a newer one"
        /// The backend of an app that wants to hear of its pushes is told of each that was accepted.
        case outcomesAreTold = "each accepted push is told of before its event ends"
        /// Deliveries are settled once, and only those that were handed out.
        case tagsAreKnown = "each delivery is settled once"
        /// A sound event becomes no dead letter without a cause.
        case deadLettersHaveCauses = "dead letters have causes"
    }

    /// The broken promise.
    public let promise: Promise
    /// The actual behaviour.
    public let detail: String
    /// How many steps the simulation had made.
    public internal(set) var step: Int = 0
    /// When it was seen, in seconds of the simulation.
    public internal(set) var seconds: Double = 0

    /// Describes a violation.
    init(_ promise: Promise, _ detail: String) {
        self.promise = promise
        self.detail = detail
    }

    /// The promise, the time, and what happened.
    public var description: String {
        "broken after \(step) steps, at \(seconds) s: \(promise.rawValue). \(detail)"
    }
}

/// The outcomes of events and pushes in a run.
public struct BooksCounts: Hashable, Sendable {
    /// Events that were published and confirmed.
    public internal(set) var events = 0
    /// Events that have ended.
    public internal(set) var eventsEnded = 0
    /// Pushes that events asked for when they were published.
    public internal(set) var expected = 0
    /// Pushes that the push service took.
    public internal(set) var accepted = 0
    /// Accepted pushes that had been accepted before.
    public internal(set) var duplicates = 0
    /// Pushes that a newer change of the dataset stands for.
    public internal(set) var coalesced = 0
    /// Pushes whose time had passed.
    public internal(set) var expired = 0
    /// Pushes to devices that left, or that cannot be reached.
    public internal(set) var gone = 0
    /// Pushes that ended with an answer other than acceptance, or as a dead letter.
    public internal(set) var refused = 0
    /// Pushes of subscriptions that another event has fired.
    public internal(set) var claimed = 0
    /// Messages that became dead letters, by Apus or by the broker.
    public internal(set) var deadLetters = 0
    /// Pushes that a backend was told of, as often as it was.
    public internal(set) var told = 0
    /// Devices that a worker removed because their token was dead.
    public internal(set) var pruned = 0
}
