import ChangeEvents
import DispatchCore
import Essentials
import RegistryCore
import Testing

/// A serving machine, the actions that it gathered, and a clock; deliveries are named by numbers.
struct ServingBench {
    static let chat = FanOutFlow(name: "chat", apps: [0])
    static let mail = FanOutFlow(name: "mail", apps: [1])
    static let repeatDelayMilliseconds: UInt64 = 100

    var serving: FanOutServing
    var actions = FanOutServing.Actions()
    var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init(hasSeveralApps: Bool = true, pagesAskedMaximum: Int = 4) {
        serving = FanOutServing(
            hasSeveralApps: hasSeveralApps, repeatDelayNanoseconds: Self.repeatDelayMilliseconds * 1_000_000,
            pagesAskedMaximum: pagesAskedMaximum)
    }

    // MARK: Values

    static func tag(_ number: UInt64, epoch: UInt32 = 1) -> DeliveryTag { DeliveryTag(epoch: epoch, number: number) }

    static func key(_ number: UInt64) -> FanOutChunkKey {
        FanOutChunkKey(
            fanOut: 1, event: EventDigest(source: "test", identifier: "1"), chunk: Int(truncatingIfNeeded: number))
    }

    static func cursor(_ position: Int64) -> AudienceCursor { AudienceCursor(position: position) }

    // MARK: Events

    mutating func arrive(_ numbers: UInt64..., flow: FanOutFlow = chat, epoch: UInt32 = 1) {
        for number in numbers {
            serving.arrived(
                FanOutDelivery(tag: Self.tag(number, epoch: epoch), key: Self.key(number), flow: flow))
        }
    }

    mutating func arriveContinuation(_ number: UInt64, cursor: Int64) {
        serving.arrived(
            FanOutDelivery(tag: Self.tag(number), key: nil, flow: Self.chat, cursor: Self.cursor(cursor)))
    }

    /// Asks for a page.
    mutating func ask(where mayServe: (FanOutDelivery) -> Bool = { _ in true }) -> FanOutServing.PageRequest? {
        guard let flow = serving.nextFlow(at: now, mayServe: mayServe) else { return nil }
        return serving.takeNextPage(of: flow)
    }

    /// The number of the delivery whose page is asked for next; nil if there is none.
    mutating func askedNumber() -> UInt64? { ask()?.tag.number }

    mutating func resolve(_ number: UInt64, next: Int64? = nil) {
        serving.pageResolved(Self.tag(number), next: next.map(Self.cursor), at: now, into: &actions)
    }

    /// Asks for the next page, expects it to be of a delivery, and begins it.
    mutating func serve(_ number: UInt64, next: Int64? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(askedNumber() == number, sourceLocation: sourceLocation)
        if serving.isAsked(Self.tag(number)) { resolve(number, next: next) }
    }

    mutating func end(_ number: UInt64, refusal: String? = nil) {
        serving.pageEnded(Self.tag(number), refusal: refusal, into: &actions)
    }

    mutating func pass(milliseconds: UInt64) {
        now = now.advanced(byMilliseconds: milliseconds)
        tick()
    }

    mutating func tick() { serving.tick(at: now, into: &actions) }

    /// Gives what is to be done, and forgets it.
    mutating func takeActions() -> FanOutServing.Actions {
        defer { actions.removeAll() }
        return actions
    }
}
