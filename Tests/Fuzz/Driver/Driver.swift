import Glibc

/// The callee of libFuzzer: the target that `APUS_FUZZ_TARGET` names, with each input.
private enum Driver {
    static let target: any FuzzTarget = {
        let name = getenv("APUS_FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = FuzzTargets.all[name] else {
            let names = FuzzTargets.all.keys.sorted().joined(separator: " ")
            stop("APUS_FUZZ_TARGET '\(name)': expected one of \(names)")
        }
        return target
    }()

    static func stop(_ message: String) -> Never {
        var text = "\n==== \(message)\n"
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        abort()
    }
}

/// Runs the target with one input; a broken promise ends the process, so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(FuzzFailure) {
        try Driver.target.run(FuzzInput(Array(UnsafeBufferPointer(start: start, count: count))))
        return 0
    } catch {
        Driver.stop(error.message)
    }
}
