import ChangeEvents
import Essentials
import Testing

@testable import DispatchCore

@Suite("Serving large fan-outs: turns and pages")
struct FanOutServingTests {
    // MARK: Pages

    @Test("The pages of a chunk are asked for one after the other, each from the end of the one before")
    func asksForPages() {
        var bench = ServingBench()
        bench.arrive(7)
        let first = bench.ask()
        #expect(first?.tag == ServingBench.tag(7) && first?.key == ServingBench.key(7) && first?.cursor == nil)
        #expect(bench.ask() == nil, "a chunk has one page asked for")
        #expect(bench.serving.isAsked(ServingBench.tag(7)))
        bench.resolve(7, next: 10)
        #expect(!bench.serving.isAsked(ServingBench.tag(7)))
        #expect(bench.ask()?.cursor == ServingBench.cursor(10))
        bench.resolve(7, next: 20)
        #expect(bench.ask()?.cursor == ServingBench.cursor(20))
        bench.resolve(7)
        #expect(bench.ask() == nil && !bench.serving.isEmpty)
    }

    @Test("A chunk that was published with a cursor begins there")
    func beginsAtCursor() {
        var bench = ServingBench()
        bench.serving.arrived(
            FanOutDelivery(
                tag: ServingBench.tag(1), key: ServingBench.key(1), flow: ServingBench.chat,
                cursor: ServingBench.cursor(25)))
        #expect(bench.ask()?.cursor == ServingBench.cursor(25))
    }

    @Test("A page that the registry did not resolve is asked for again after a while, before all else of its flow")
    func repeatsFailedPage() {
        var bench = ServingBench()
        bench.arrive(1, 2)
        bench.serve(1, next: 10)
        #expect(bench.ask()?.cursor == ServingBench.cursor(10))
        bench.serving.pageFailed(ServingBench.tag(1), at: bench.now)
        #expect(bench.ask() == nil)
        #expect(bench.serving.nextDeadline == bench.now.advanced(byMilliseconds: 100))
        bench.pass(milliseconds: 100)
        #expect(bench.serving.nextDeadline == nil)
        let again = bench.ask()
        #expect(again?.tag == ServingBench.tag(1) && again?.cursor == ServingBench.cursor(10))
    }

    @Test("A continuation is one page, whose job ends its delivery")
    func servesContinuation() {
        var bench = ServingBench()
        bench.arriveContinuation(1, cursor: 30)
        let request = bench.ask()
        #expect(request?.key == nil && request?.cursor == ServingBench.cursor(30))
        bench.resolve(1, next: 40)
        let actions = bench.takeActions()
        #expect(actions.released == [ServingBench.tag(1)] && actions.settles.isEmpty)
        #expect(bench.serving.isEmpty)
    }

    // MARK: The chunks of a flow

    @Test("A worker serves one chunk after the other: of the next no more than a page before the first has ended")
    func servesOneChunkAfterTheOther() {
        var bench = ServingBench()
        bench.arrive(1, 2, 3)
        for next in [10, 20, nil] as [Int64?] { bench.serve(1, next: next) }
        bench.serve(2, next: 35)
        #expect(bench.ask() == nil)
        for _ in 0..<3 { bench.end(1) }
        bench.serve(2)
        bench.serve(3, next: 60)
        #expect(bench.ask() == nil)
    }

    @Test("Nothing of a chunk begins while two chunks before it are out")
    func waitsForTwoChunks() {
        var bench = ServingBench()
        bench.arrive(1, 2, 3)
        bench.serve(1)
        bench.serve(2)
        #expect(bench.ask() == nil)
        bench.end(2)
        bench.serve(3)
    }

    @Test("A continuation waits for the pages of the chunk before it, and the chunk behind it waits for nothing of it")
    func ordersContinuations() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.arriveContinuation(2, cursor: 5)
        bench.arrive(3)
        bench.serve(1, next: 10)
        bench.serve(1)
        bench.serve(2)
        bench.serve(3)
    }

    // MARK: Flows

    @Test("The chunks of two apps are served side by side, page by page")
    func servesAppsInTurns() {
        var bench = ServingBench()
        bench.arrive(1, 2)
        bench.arrive(3, 4, flow: ServingBench.mail)
        for position in 1...5 as ClosedRange<Int64> {
            bench.serve(1, next: position)
            bench.serve(3, next: position)
        }
        bench.serve(1)
        bench.serve(3)
        bench.serve(2)
        bench.serve(4)
    }

    @Test("Pages of several flows are asked for at once, one of each and no more than the maximum")
    func asksAtOnce() {
        var bench = ServingBench(pagesAskedMaximum: 2)
        bench.arrive(1, 2)
        bench.arrive(3, flow: ServingBench.mail)
        bench.arrive(4, flow: FanOutFlow(name: "news", apps: [2]))
        #expect(bench.askedNumber() == 1 && bench.askedNumber() == 3)
        #expect(bench.ask() == nil)
        bench.resolve(3)
        #expect(bench.askedNumber() == 4)
    }

    @Test("A flow that may not be served now is passed over, and keeps its turn")
    func passesOver() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.arrive(2, flow: ServingBench.mail)
        let isMail = { (delivery: FanOutDelivery) in delivery.flow == ServingBench.mail }
        #expect(bench.ask(where: isMail)?.tag.number == 2)
        bench.resolve(2, next: 10)
        #expect(bench.ask { _ in false } == nil)
        bench.serve(1, next: 10)
        bench.serve(2)
    }

    @Test("Names of flows are the same if their bytes are")
    func flowsAreBytes() {
        #expect(FanOutFlow(name: "caf\u{E9}", apps: []) != FanOutFlow(name: "cafe\u{301}", apps: []))
    }

    // MARK: Flows that hang

    @Test("The deliveries of a flow that hangs leave the worker if they have not begun, and that is logged once")
    func releasesUnbegunOfHangingFlow() {
        var bench = ServingBench()
        bench.arrive(1, 2, 3)
        bench.serve(1, next: 10)
        let begun = bench.now
        bench.pass(milliseconds: 3_000)
        bench.serve(1, next: 20)
        bench.arrive(4, flow: ServingBench.mail)
        #expect(bench.serving.flowsOut.map(\.flow) == [ServingBench.chat])
        #expect(bench.serving.flowsOut.map(\.since) == [begun])
        #expect(bench.serving.flowsHang([], at: bench.now, into: &bench.actions) == [])
        #expect(bench.serving.nextDeadline == bench.now.advanced(byMilliseconds: 1_000))
        bench.pass(milliseconds: 1_000)
        let left = bench.serving.flowsHang([ServingBench.chat], at: bench.now, into: &bench.actions)
        #expect(left.map(\.tag.number) == [2, 3])
        #expect(bench.takeActions().notices == [.flowHangs(ServingBench.chat)])
        bench.arrive(3)
        #expect(bench.serving.nextDeadline == bench.now.advanced(byMilliseconds: 1_000))
        let again = bench.serving.flowsHang([ServingBench.chat], at: bench.now, into: &bench.actions)
        #expect(again.map(\.tag.number) == [3])
        #expect(bench.takeActions().notices.isEmpty)
        bench.serve(1)
        bench.serve(4)
        bench.arrive(5)
        _ = bench.serving.flowsHang([], at: bench.now, into: &bench.actions)
        _ = bench.serving.flowsHang([ServingBench.chat], at: bench.now, into: &bench.actions)
        #expect(bench.takeActions().notices == [.flowHangs(ServingBench.chat)], "it hangs anew")
    }

    @Test("A chunk without a page out, and a flow of no app, count for no hanging flow")
    func countsPagesOut() {
        var bench = ServingBench()
        let pool = FanOutFlow(name: "pool", apps: [])
        bench.arrive(1, 9)
        bench.arrive(2, flow: pool)
        bench.serve(1, next: 10)
        bench.serve(2)
        bench.end(1)
        #expect(bench.serving.flowsOut.isEmpty)
        bench.pass(milliseconds: 10)
        bench.serve(1, next: 20)
        #expect(bench.serving.flowsOut.map(\.since) == [bench.now])
    }

    @Test("With one app the chunks of a fan-out that APNs does not answer stay where they are")
    func keepsChunksOfOnlyApp() {
        var bench = ServingBench(hasSeveralApps: false)
        bench.arrive(1, 2)
        bench.serve(1)
        #expect(bench.serving.flowsOut.isEmpty)
        #expect(bench.serving.flowsHang([ServingBench.chat], at: bench.now, into: &bench.actions) == [])
        #expect(bench.serving.nextDeadline == nil && bench.serving.isWaiting)
    }
}
