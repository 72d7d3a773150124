import PushTestKit
import Testing
import Tracing

@Suite("The sampler")
struct SamplerTests {
    private static func traces(_ count: Int, seed: UInt64) throws -> [TraceID] {
        var random = SeededGenerator(seed: seed)
        return try (0..<count).map { _ in try #require(TraceID(high: random.next(), low: random.next())) }
    }

    private static func context(_ traceID: TraceID, isSampled: Bool) throws -> TraceContext {
        TraceContext(traceID: traceID, spanID: try #require(SpanID(1)), flags: isSampled ? .sampled : [])
    }

    @Test("A parent's flag decides where it is asked for, and only there")
    func parent() throws {
        for traceID in try Self.traces(50, seed: 1) {
            for isSampled in [true, false] {
                let parent = try Self.context(traceID, isSampled: isSampled)
                for root in [Sampler.Root.alwaysOn, .alwaysOff, .ratio(0.5)] {
                    #expect(Sampler(root, isParentBased: true).isSampled(traceID, parent: parent) == isSampled)
                }
                #expect(Sampler(.alwaysOn, isParentBased: false).isSampled(traceID, parent: parent))
                #expect(!Sampler(.alwaysOff, isParentBased: false).isSampled(traceID, parent: parent))
            }
            #expect(Sampler(.alwaysOn, isParentBased: true).isSampled(traceID, parent: nil))
            #expect(!Sampler(.alwaysOff, isParentBased: true).isSampled(traceID, parent: nil))
        }
    }

    @Test("A trace that is recorded at one ratio is recorded at every higher one, by every sampler")
    func monotonic() throws {
        let ratios = [0, 1e-9, 0.01, 0.1, 0.25, 0.5, 0.75, 0.999, 1]
        for traceID in try Self.traces(2_000, seed: 2) {
            let decisions = ratios.map { Sampler(.ratio($0), isParentBased: true).isSampled(traceID, parent: nil) }
            let again = ratios.map { Sampler(.ratio($0), isParentBased: false).isSampled(traceID, parent: nil) }
            #expect(decisions == again)
            #expect(decisions == decisions.sorted { !$0 && $1 })
            #expect(decisions.first == false && decisions.last == true)
        }
    }

    @Test("A ratio records about that part of all traces", arguments: [0.01, 0.1, 0.25, 0.5, 0.9])
    func share(_ ratio: Double) throws {
        let sampler = Sampler(.ratio(ratio), isParentBased: true)
        let traces = try Self.traces(20_000, seed: 3)
        let share = Double(traces.count { sampler.isSampled($0, parent: nil) }) / Double(traces.count)
        #expect(abs(share - ratio) < 0.02)
    }

    @Test("The last 56 bits decide, as the vectors of OpenTelemetry's consistent sampling say")
    func vectors() throws {
        // One in a hundred is the threshold fd70a3d70a3d70, one in four c0000000000000.
        for (low, oneInHundred, oneInFour) in [
            (0x00ff_ffff_ffff_ffff as UInt64, true, true), (0xfffd_70a3_d70a_3d80, true, true),
            (0x00fd_70a3_d70a_3d00, false, true), (0xffc0_0000_0000_0000, false, true),
            (0xffbf_ffff_ffff_ffff, false, false), (0xff00_0000_0000_0000, false, false),
        ] {
            let traceID = try #require(TraceID(high: .max, low: low))
            #expect(Sampler(.ratio(0.01), isParentBased: true).isSampled(traceID, parent: nil) == oneInHundred)
            #expect(Sampler(.ratio(0.25), isParentBased: true).isSampled(traceID, parent: nil) == oneInFour)
        }
    }

    @Test("A ratio outside its bounds counts as the nearest, and one that is no number as none")
    func bounds() throws {
        let traceID = try #require(TraceID(high: .max, low: .max))
        let ratios: [(Double, Bool)] = [
            (2, true), (.infinity, true), (-1, false), (-.infinity, false), (.nan, false),
        ]
        for (ratio, isSampled) in ratios {
            #expect(Sampler(.ratio(ratio), isParentBased: true).isSampled(traceID, parent: nil) == isSampled)
        }
    }
}
