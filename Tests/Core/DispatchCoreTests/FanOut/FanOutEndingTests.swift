import ChangeEvents
import Essentials
import RegistryCore
import Testing

@testable import DispatchCore

@Suite("Serving large fan-outs: how chunks end")
struct FanOutEndingTests {
    private static let tag = ServingBench.tag(1)

    private func ending(_ number: UInt64, isCancelled: Bool = false) -> FanOutChunkEnding {
        FanOutChunkEnding(ServingBench.key(number), isCancelled: isCancelled)
    }

    // MARK: Recording

    @Test("A chunk is settled when its last page has ended and that is recorded, and not before")
    func settlesAfterRecording() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.serve(1, next: 10)
        bench.serve(1)
        bench.end(1)
        bench.tick()
        #expect(bench.takeActions().endingsToRecord.isEmpty)
        bench.end(1)
        bench.tick()
        var actions = bench.takeActions()
        #expect(actions.endingsToRecord == [ending(1)] && actions.released == [Self.tag] && actions.settles.isEmpty)
        #expect(!bench.serving.isEmpty)
        bench.serving.endingsRecorded(into: &bench.actions)
        actions = bench.takeActions()
        #expect(actions.settles == [Self.tag] && actions.counts.chunksServed == 1)
        #expect(bench.serving.isEmpty)
    }

    @Test("The chunks of a tick are recorded together, those that end meanwhile together after them")
    func recordsTogether() {
        var bench = ServingBench()
        for number in 1...4 as ClosedRange<UInt64> {
            bench.arrive(number, flow: FanOutFlow(name: "\(number)", apps: []))
        }
        for number in 1...4 as ClosedRange<UInt64> { bench.serve(number) }
        bench.end(2)
        bench.end(1)
        bench.tick()
        bench.end(3)
        bench.end(4)
        bench.tick()
        #expect(bench.takeActions().endingsToRecord == [ending(2), ending(1)])
        bench.serving.endingsRecorded(into: &bench.actions)
        bench.tick()
        let actions = bench.takeActions()
        #expect(actions.settles == [ServingBench.tag(2), Self.tag])
        #expect(actions.endingsToRecord == [ending(3), ending(4)])
    }

    @Test("A chunk whose end cannot be recorded is not settled until it can")
    func recordsBeforeSettling() {
        var bench = ServingBench()
        bench.arrive(1, 2)
        bench.serve(1)
        bench.end(1)
        bench.tick()
        bench.actions.removeAll()
        let error = RegistryError(.unavailable, "locked")
        bench.serving.endingsNotRecorded(error, at: bench.now, into: &bench.actions)
        #expect(bench.serving.nextDeadline == bench.now.advanced(byMilliseconds: 100))
        bench.serve(2)
        bench.end(2)
        bench.pass(milliseconds: 99)
        var actions = bench.takeActions()
        #expect(actions.notices == [.endingsNotRecorded(count: 1, error)] && actions.counts.registryFailures == 1)
        #expect(actions.endingsToRecord.isEmpty && actions.settles.isEmpty)
        bench.pass(milliseconds: 1)
        #expect(bench.takeActions().endingsToRecord == [ending(1), ending(2)])
        #expect(bench.serving.nextDeadline == nil)
        bench.serving.endingsRecorded(into: &bench.actions)
        actions = bench.takeActions()
        #expect(actions.settles == [Self.tag, ServingBench.tag(2)] && actions.counts.chunksServed == 2)
    }

    @Test("With a registry that can only be read chunks are settled though nobody records them")
    func settlesWithoutRecording() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.serve(1)
        bench.end(1)
        bench.tick()
        bench.serving.endingsNotRecorded(RegistryError(.readOnly, "full"), at: bench.now, into: &bench.actions)
        #expect(bench.actions.settles == [Self.tag] && bench.actions.counts.registryFailures == 1)
        #expect(bench.serving.isEmpty && bench.serving.nextDeadline == nil)
    }

    // MARK: Chunks that are over

    @Test("A chunk that is there twice is served once, and its second copy is settled at once")
    func settlesRepeatedChunk() {
        var bench = ServingBench()
        bench.arrive(1)
        #expect(bench.askedNumber() == 1)
        bench.serving.chunkIsOver(Self.tag, .served, into: &bench.actions)
        bench.tick()
        let actions = bench.takeActions()
        #expect(actions.settles == [Self.tag] && actions.released == [Self.tag] && actions.endingsToRecord.isEmpty)
        #expect(actions.counts.chunksRepeated == 1 && bench.serving.isEmpty)
    }

    @Test("A chunk of a cancelled fan-out that has not begun is recorded as cancelled without a page")
    func cancelsWaitingChunk() {
        var bench = ServingBench()
        bench.arrive(1)
        #expect(bench.askedNumber() == 1)
        bench.serving.chunkIsOver(Self.tag, .cancelled, into: &bench.actions)
        bench.tick()
        #expect(bench.takeActions().endingsToRecord == [ending(1, isCancelled: true)])
        bench.serving.endingsRecorded(into: &bench.actions)
        #expect(bench.actions.settles == [Self.tag] && bench.actions.counts.chunksCancelled == 1)
    }

    @Test("A chunk under way stops at its next page when its fan-out is cancelled, or somebody else has served it")
    func stopsAtNextPage() {
        for state in [FanOutChunkState.cancelled, .served] {
            var bench = ServingBench()
            bench.arrive(1)
            bench.serve(1, next: 10)
            #expect(bench.askedNumber() == 1)
            bench.serving.chunkIsOver(Self.tag, state, into: &bench.actions)
            bench.tick()
            #expect(bench.takeActions().endingsToRecord.isEmpty && bench.ask() == nil)
            bench.end(1)
            bench.tick()
            #expect(bench.takeActions().endingsToRecord == [ending(1, isCancelled: state == .cancelled)])
        }
    }

    // MARK: Dead letters

    @Test("A chunk with a page that cannot be rendered is settled after its dead letter and its pages, not recorded")
    func settlesDeadLetter() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.serve(1, next: 10)
        #expect(bench.askedNumber() == 1)
        bench.serving.pageRejected(Self.tag, at: bench.now, into: &bench.actions)
        bench.end(1)
        bench.tick()
        #expect(bench.takeActions().settles.isEmpty && bench.ask() == nil)
        bench.end(1)
        bench.tick()
        let actions = bench.takeActions()
        #expect(actions.settles == [Self.tag] && actions.counts.chunksRejected == 1)
        #expect(actions.endingsToRecord.isEmpty && bench.serving.isEmpty)
    }

    @Test("A chunk is rejected after its last page if the broker takes no copy of something of it")
    func rejectsChunk() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.serve(1, next: 10)
        bench.end(1, refusal: "too large")
        #expect(bench.takeActions().rejections.isEmpty)
        bench.serve(1)
        bench.end(1)
        bench.tick()
        let actions = bench.takeActions()
        #expect(actions.rejections.map(\.tag) == [Self.tag] && actions.rejections.map(\.detail) == ["too large"])
        #expect(actions.settles.isEmpty && actions.endingsToRecord.isEmpty && actions.counts.chunksRejected == 1)
    }

    @Test("A continuation that cannot be rendered leaves the machine, and its dead letter ends the delivery")
    func forgetsRejectedContinuation() {
        var bench = ServingBench()
        bench.arriveContinuation(1, cursor: 5)
        #expect(bench.askedNumber() == 1)
        bench.serving.pageRejected(Self.tag, at: bench.now, into: &bench.actions)
        #expect(bench.actions.released == [Self.tag] && bench.actions.settles.isEmpty && bench.serving.isEmpty)
    }

    // MARK: The connection, and the end

    @Test("When the connection is lost, chunks with a page left are forgotten, and the others end as usual")
    func forgetsUnreadChunks() {
        var bench = ServingBench()
        bench.arrive(1)
        bench.arrive(2, flow: ServingBench.mail)
        bench.serve(1)
        bench.serve(2, next: 10)
        #expect(bench.askedNumber() == 2)
        bench.arrive(3)
        bench.serving.sourceLost(into: &bench.actions)
        var actions = bench.takeActions()
        #expect(actions.pagesAbandoned == [ServingBench.tag(2)])
        #expect(Set(actions.released) == [ServingBench.tag(2), ServingBench.tag(3)])
        #expect(!bench.serving.isAsked(ServingBench.tag(2)) && bench.ask() == nil)
        bench.serving.sourceLost(before: 2, into: &bench.actions)
        bench.end(2)
        bench.end(1)
        bench.tick()
        actions = bench.takeActions()
        #expect(actions.endingsToRecord == [ending(1)] && actions.released == [Self.tag])
        bench.arrive(2, flow: ServingBench.mail, epoch: 2)
        let again = bench.ask()
        #expect(again?.tag.epoch == 2 && again?.cursor == nil, "it comes again from its beginning")
    }

    @Test("A connection that begins keeps its own deliveries")
    func keepsNewDeliveries() {
        var bench = ServingBench()
        bench.arrive(1, epoch: 2)
        bench.serving.sourceLost(before: 2, into: &bench.actions)
        #expect(bench.takeActions().released.isEmpty)
        #expect(bench.ask()?.tag == ServingBench.tag(1, epoch: 2))
    }

    @Test("A worker that is told to stop serves the chunk that it has begun to its end, and no other")
    func drainsBegunChunk() {
        var bench = ServingBench()
        bench.arrive(1, 2)
        bench.arrive(3, flow: ServingBench.mail)
        bench.serve(1, next: 10)
        #expect(bench.askedNumber() == 3)
        #expect(bench.askedNumber() == 1)
        bench.serving.drain(into: &bench.actions)
        #expect(Set(bench.actions.released) == [ServingBench.tag(2), ServingBench.tag(3)])
        #expect(bench.takeActions().pagesAbandoned == [ServingBench.tag(3)])
        bench.arrive(4)
        bench.resolve(1, next: 20)
        bench.serve(1)
        #expect(bench.ask() == nil)
        for _ in 0..<3 { bench.end(1) }
        bench.tick()
        #expect(!bench.serving.isEmpty)
        bench.serving.endingsRecorded(into: &bench.actions)
        #expect(bench.actions.settles == [Self.tag] && bench.serving.isEmpty)
    }
}
