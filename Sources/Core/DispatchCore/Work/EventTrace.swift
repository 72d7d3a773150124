public import Notifications
public import Tracing

/// The trace of one delivery of an event, as outcomes, logs and exemplars name it.
public struct EventTrace: Hashable, Sendable {
    /// The context to hand on: that of the delivery's own span, or the sender's if nothing is recorded here.
    public var context: TraceContext
    /// Whether spans are made for this delivery.
    public var isRecorded: Bool

    /// Names the trace of a delivery.
    init(context: TraceContext, isRecorded: Bool) {
        self.context = context
        self.isRecorded = isRecorded
    }

    /// Hands the sender's context on as it came.
    public init(passedOn context: TraceContext) { self.init(context: context, isRecorded: false) }
}

/// One attempt to send a push, for its span.
public struct PushAttempt: Sendable {
    /// The push service.
    public var service: PushService
    /// The app.
    public var app: String
    /// The `apns-id` of the push, which stands in outcomes and in exemplars as well.
    public var apnsID: APNsIdentifier
    /// Which attempt it is of this delivery, from 1.
    public var number: Int
    /// The host that it was sent to; nil if it is not known.
    public var serverAddress: String?
    /// How it ended.
    public var outcome: AttemptOutcome
    /// The consequence.
    public var disposition: Disposition
    /// From the request's first byte to the outcome, in nanoseconds.
    public var durationNanoseconds: UInt64

    /// Describes an attempt.
    public init(
        service: PushService, app: String, apnsID: APNsIdentifier, number: Int = 1, serverAddress: String? = nil,
        outcome: AttemptOutcome, disposition: Disposition, durationNanoseconds: UInt64
    ) {
        self.service = service
        self.app = app
        self.apnsID = apnsID
        self.number = number
        self.serverAddress = serverAddress
        self.outcome = outcome
        self.disposition = disposition
        self.durationNanoseconds = durationNanoseconds
    }
}

/// How a delivery ended.
public enum DeliveryEnding: Hashable, Sendable {
    /// All of its pushes ended, or copies of it wait in queues.
    case settled
    /// Another event's pushes tell it.
    case coalesced
    /// The broker delivers it again, because the connection was lost before it had ended.
    case connectionLost
    /// The broker, or Apus, made it a dead letter.
    case rejected(reason: String)
}
