@testable import JSON

/// Reads a document with simdjson and with the fault finder, which must agree, and writes it again.
struct JSONFuzzTarget: FuzzTarget {
    private static let depthMaximum = 64

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        let parser = JSONParser(depthMaximum: Self.depthMaximum, bytesMaximum: 1 << 20)
        let hasMark = input.bytes.starts(with: JSONParser.byteOrderMark)
        let document = Array(input.bytes.dropFirst(hasMark ? JSONParser.byteOrderMark.count : 0))
        let fault = document.withUnsafeBufferPointer {
            JSONFaultFinder.firstFault(in: $0, depthMaximum: Self.depthMaximum)
        }
        guard let value = try? parser.parse(input.bytes, refusingRepeatedKeys: false) else {
            return try promise(fault != nil, "simdjson refuses what the fault finder accepts")
        }
        try promise(fault == nil, "simdjson accepts what the fault finder refuses: \(String(describing: fault))")
        _ = count(value)
        let isRepeating = repeatsKeys(value)
        let minified = value.minified
        let strict = JSONParser(depthMaximum: Self.depthMaximum)
        try promise(((try? strict.parse(minified)) == nil) == isRepeating, "repeated keys are \(isRepeating)")
        guard let again = try? strict.parse(minified, refusingRepeatedKeys: false) else {
            throw FuzzFailure("the minified document is refused: \(String(decoding: minified, as: UTF8.self))")
        }
        try promise(again.minified == minified, "minifying twice gives another document")
    }

    /// Whether an object has a key twice.
    private func repeatsKeys(_ value: JSONValue) -> Bool {
        if let array = value.array, array.contains(where: repeatsKeys) { return true }
        guard let object = value.object else { return false }
        let keys = object.map { Array($0.key.utf8) }
        return Set(keys).count < keys.count || object.contains { repeatsKeys($0.value) }
    }

    /// Looks at each value in each way.
    private func count(_ value: JSONValue) -> Int {
        var sum = [value.string?.count, value.int64.map { Int(truncatingIfNeeded: $0) }].compactMap { $0 }.reduce(0, &+)
        sum &+= value.double.map { $0.isNaN ? 1 : 0 } ?? 0
        for element in value.array.map(Array.init) ?? [] { sum &+= count(element) }
        for member in value.object.map(Array.init) ?? [] {
            sum &+= member.key.utf8.count &+ count(member.value)
        }
        return sum
    }
}
