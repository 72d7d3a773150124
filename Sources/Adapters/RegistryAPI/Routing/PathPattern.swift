/// The path of a route, for example `/v1/devices/{id}`.
struct PathPattern: Hashable, Sendable {
    /// One segment.
    enum Segment: Hashable, Sendable {
        /// This text.
        case literal(String)
        /// Any text that is not empty, under a name.
        case parameter(String)
    }

    /// The text as OpenAPI writes it.
    let text: String
    let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = text.dropFirst().split(separator: "/").map { segment in
            segment.hasPrefix("{")
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
    }

    /// The values of the parameters, or nil if the path is another.
    func match(_ path: [String]) -> PathValues? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (part, segment) in zip(path, segments) {
            switch segment {
            case .literal(let text):
                if part != text { return nil }
            case .parameter(let name):
                if part.isEmpty { return nil }
                values[name] = part
            }
        }
        return PathValues(values: values)
    }
}
