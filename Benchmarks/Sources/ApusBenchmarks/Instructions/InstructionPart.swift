import Foundation
import Hashing
import PushTestKit

/// A part of a push's way whose instructions are counted, with work that is always the same.
enum InstructionPart: String, CaseIterable {
    case decode, render
    case lookUp = "look_up"
    case lookUpInBatch = "look_up_in_batch"
    case oneToOne = "pipeline_one_to_one"
    case remembered = "pipeline_remembered"
    case fanOut = "pipeline_fan_out"
    case pushService = "push_service"

    /// How many items it works through before it is counted, so that everything that grows has grown, and then.
    var counts: (warmUp: Int, counted: Int) {
        switch self {
        case .decode, .render: (Scale.of(500, small: 5), Scale.of(5_000, small: 10))
        case .lookUp: (Scale.of(500, small: 5), Scale.of(2_000, small: 10))
        case .lookUpInBatch: (Scale.of(1_000, small: 100), Scale.of(4_000, small: 200))
        case .oneToOne, .remembered: (PipelineWork.datasets, Scale.of(4_000, small: 100))
        case .fanOut: (PipelineWork.crowdDevices, Scale.of(3, small: 1) * PipelineWork.crowdDevices)
        case .pushService: (Scale.of(1_000, small: 100), Scale.of(4_000, small: 100))
        }
    }

    /// The counted figures: one for all threads, or one for each thread that is named here.
    ///
    /// A thread is known by a function that no other runs: `symbol` is a part of its name.
    var figures: [(name: String, symbol: String?)] {
        switch self {
        case .pushService: [("client", "13ServiceClient0B4Core"), ("simulator", "13APNsSimulator")]
        default: [(rawValue, nil)]
        }
    }

    /// Does the work in this process, which does nothing else.
    ///
    /// - Parameter registry: the file that `InstructionRegistry` has made; it stays as it is.
    /// - Throws: the error of the work if its result is not the expected one.
    func run(registry: String) throws {
        // Hashes decide about collisions in tables, so they have to be the same in every run.
        WordDigest.fixSecretSeed(1)
        let folder = try TemporaryFolder()
        let copy = folder.path + "/registry.db"
        try FileManager.default.copyItem(atPath: registry, toPath: copy)
        let work = try makeWork(folder, registry: copy)
        try work.perform(counts.warmUp)
        try work.mark()
        try work.perform(counts.counted)
        try work.mark()
    }

    private func makeWork(_ folder: TemporaryFolder, registry: String) throws -> any CountedWork {
        let total = counts.warmUp + counts.counted
        return switch self {
        case .decode: DecodeWork()
        case .render: RenderWork()
        case .lookUp: try LookUpWork(registry: registry, batch: 1)
        case .lookUpInBatch: try LookUpWork(registry: registry, batch: 100)
        case .oneToOne: try PipelineWork.oneToOne(registry: registry, total: total)
        case .remembered: try PipelineWork.oneToOne(registry: registry, total: total, isRemembered: true)
        case .fanOut: try PipelineWork.fanOut(registry: registry, total: total)
        case .pushService: try PushServiceWork(folder, total: total)
        }
    }
}

/// Work that can be done item by item, and is the same in every process.
protocol CountedWork {
    /// Works through so many further items.
    func perform(_ count: Int) throws
    /// Sets a mark on each thread that works.
    func mark() throws
}

extension CountedWork {
    func mark() { InstructionMark.set() }
}

/// The border between what is counted and what is not.
enum InstructionMark {
    /// The function of the C library that is the mark: nothing else here calls it, and it does next to nothing.
    static let function = "getppid"

    /// Has callgrind, if this process runs under it, write down what it has counted of this thread since the last mark.
    static func set() { _ = getppid() }
}
