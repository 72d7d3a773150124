/// The probes of one statement's run, with their texts in one piece of memory that is used again and again.
final class ProbeBuffer {
    /// As many rows as the largest statement has.
    static let probesMaximum = 256

    private(set) var probes = ContiguousArray<Probe>()
    private(set) var names = ContiguousArray<UInt8>()

    /// Whether another probe fits.
    var isFull: Bool { probes.count >= Self.probesMaximum }

    /// Adds a probe.
    func append(
        request: Int, element: Int = 0, name: some Sequence<UInt8>,
        numbers: (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
    ) {
        let start = names.count
        names.append(contentsOf: name)
        probes.append(Probe(request: request, element: element, name: start..<names.count, numbers: numbers))
    }

    /// Forgets the probes and keeps the memory.
    func removeAll() {
        probes.removeAll(keepingCapacity: true)
        names.removeAll(keepingCapacity: true)
    }
}
