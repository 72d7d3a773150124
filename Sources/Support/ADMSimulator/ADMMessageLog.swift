import PushServiceSimulator
import Synchronization

/// One message that a simulator of ADM judged.
public struct RecordedADMMessage: Sendable, Equatable {
    /// When, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The registration ID in the path.
    public var registrationID: String
    /// The texts of `data`; nil if the message could not be read.
    public var data: [String: String]?
    /// `consolidationKey`.
    public var consolidationKey: String?
    /// `expiresAfter`, in seconds.
    public var expiresAfter: Int64?
    /// The status of the answer; nil if none was given.
    public var status: Int?
    /// The reason in the answer; nil for acceptance.
    public var reason: String?
    /// Whether the same message to the same registration ID had been accepted before.
    public var isDuplicate: Bool
}

/// The numbers of a simulator of ADM.
public struct ADMSummary: Sendable, Equatable {
    /// Messages that were judged, answered or not.
    public var judged = 0
    /// Messages that were accepted, duplicates and those with a lost answer included.
    public var accepted = 0
    /// Accepted messages that had been accepted before.
    public var duplicates = 0
    /// Messages that were neither accepted nor answered.
    public var silent = 0
    /// Accepted messages whose answer was lost.
    public var lostAnswers = 0
    /// How often each reason was given.
    public var reasons: [String: Int] = [:]
    /// The fetching of access tokens.
    public var tokens = ADMTokenCounts()

    /// Begins with none.
    public init() {}
}

/// The books of the messages.
final class ADMMessageLog: Sendable {
    private struct State {
        var summary = ADMSummary()
        var records: [RecordedADMMessage] = []
    }

    private let recordsMaximum: Int
    private let identifiers = AcceptedIdentifiers()
    private let state = Mutex(State())

    init(recordsMaximum: Int) { self.recordsMaximum = recordsMaximum }

    /// The numbers so far, without those of tokens.
    var summary: ADMSummary { state.withLock { $0.summary } }

    /// The kept records.
    var records: [RecordedADMMessage] { state.withLock { $0.records } }

    /// Notes what became of a message.
    func note(_ judgement: ADMJudgement, nowMilliseconds: Int64) {
        let isAccepted = judgement.answer?.status == 200
        let identity = judgement.message?.identity(to: judgement.registrationID) ?? 0
        let isDuplicate = isAccepted && !identifiers.insert(identity)
        let record = RecordedADMMessage(
            timeMilliseconds: nowMilliseconds, registrationID: judgement.registrationID, data: judgement.message?.data,
            consolidationKey: judgement.message?.consolidationKey, expiresAfter: judgement.message?.expiresAfter,
            status: judgement.losesAnswer ? nil : judgement.answer?.status, reason: judgement.answer?.reason,
            isDuplicate: isDuplicate)
        state.withLock { state in
            state.summary.judged += 1
            if isAccepted { state.summary.accepted += 1 }
            if isDuplicate { state.summary.duplicates += 1 }
            if judgement.answer == nil { state.summary.silent += 1 }
            if judgement.losesAnswer { state.summary.lostAnswers += 1 }
            if let reason = judgement.answer?.reason { state.summary.reasons[reason, default: 0] += 1 }
            if state.records.count < recordsMaximum { state.records.append(record) }
        }
    }
}
