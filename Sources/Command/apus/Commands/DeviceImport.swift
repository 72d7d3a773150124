import EventLoop
import JSON
import PushCore

/// Reads devices from lines and hands them on in steps.
struct DeviceImport {
    /// How an import went.
    struct Result {
        /// Devices handed on.
        var imported = 0
        /// Lines that were reported.
        var badLines = 0
        /// Lines read, empty ones included.
        var lines = 0
        /// The apps of the devices.
        var apps: Set<String> = []
    }

    /// How many devices make a step: large enough that a commit costs little, small enough to show progress.
    private static let stepCount = 5_000
    /// More bad lines than this are only counted, so that a wrong file does not flood the terminal.
    private static let reportsMaximum = 1_000
    /// More apps than this are not remembered: a configuration has a few.
    private static let appsMaximum = 100

    let reader: DeviceLineReader
    /// The key of the registry's servers, which tells the tokens of `WEB` clients; nil if no registry is open.
    let courierKey: CourierKey?

    /// Runs to the end of the lines.
    ///
    /// - Parameter register: takes the devices of a step.
    /// - Returns: what was done.
    /// - Throws: `CommandFailure` if the lines cannot be read, and what `register` throws.
    func run(_ register: ([DeviceRegistration]) throws -> Void) throws -> Result {
        var result = Result()
        var step: [DeviceRegistration] = []
        step.reserveCapacity(Self.stepCount)
        let parser = JSONParser(depthMaximum: 4, bytesMaximum: DeviceLineReader.lineBytesMaximum)
        let progress = ProgressLine()
        let now = WallClock.nowMilliseconds()
        func finishStep() throws {
            try register(step)
            result.imported += step.count
            step.removeAll(keepingCapacity: true)
            progress.update("imported \(result.imported), invalid lines \(result.badLines)")
        }
        while let line = try reader.next() {
            result.lines += 1
            do {
                guard let registration = try registration(line, parser: parser, now: now) else { continue }
                step.append(registration)
                if result.apps.count < Self.appsMaximum { result.apps.insert(registration.device.app) }
            } catch {
                result.badLines += 1
                report(error, line: result.lines, count: result.badLines)
            }
            if step.count == Self.stepCount { try finishStep() }
        }
        if !step.isEmpty { try finishStep() }
        progress.finish()
        return result
    }

    private func registration(
        _ line: DeviceLineReader.Line, parser: JSONParser, now: Int64
    ) throws(DeviceLineProblem) -> DeviceRegistration? {
        guard case .bytes(let bytes) = line else {
            throw DeviceLineProblem("longer than \(DeviceLineReader.lineBytesMaximum) bytes")
        }
        let isBlank = bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == 9 }
        return isBlank ? nil : try DeviceLine.parse(bytes, parser: parser, now: now, courierKey: courierKey)
    }

    private func report(_ problem: DeviceLineProblem, line: Int, count: Int) {
        if count <= Self.reportsMaximum {
            StandardError.line("line \(line): \(problem.message)")
        } else if count == Self.reportsMaximum + 1 {
            StandardError.line("more lines are invalid; they are only counted")
        }
    }
}
