/// Finds what serves a request, by its method and its path.
public struct RouteTable<Served: Sendable>: Sendable {
    /// The result of a search.
    public enum Finding: Sendable {
        /// It is served, with the values of the path's parameters.
        case found(Served, PathValues)
        /// The path is served for these methods only, in the order of the routes.
        case otherMethods([String])
        /// No route has such a path.
        case unknownPath
    }

    private struct Route: Sendable {
        let method: String
        let path: PathPattern
        let served: Served
    }

    /// The routes by the first segment of their path.
    private let routes: [String: [Route]]

    /// Creates a table; of two routes that fit a request, the earlier one serves it.
    ///
    /// - Parameter routes: the routes; the first segment of each path must be a literal, or this traps.
    public init(_ routes: [(method: String, path: PathPattern, served: Served)]) {
        var table: [String: [Route]] = [:]
        for (method, path, served) in routes {
            guard case .literal(let first)? = path.segments.first else {
                preconditionFailure("the route \(path.text) does not begin with a literal segment")
            }
            table[first, default: []].append(Route(method: method, path: path, served: served))
        }
        self.routes = table
    }

    /// Finds the route of a request.
    ///
    /// - Parameters:
    ///   - method: the method, as the client wrote it.
    ///   - segments: the segments of the path, percent-decoded.
    /// - Returns: the route, or why there is none.
    public func find(_ method: String, _ segments: [String]) -> Finding {
        guard let routes = routes[segments.first ?? ""] else { return .unknownPath }
        var methods: [String] = []
        // By indices, because an element would be copied with all that it refers to.
        for index in routes.indices where routes[index].path.segments.count == segments.count {
            guard let values = routes[index].path.match(segments) else { continue }
            if routes[index].method == method { return .found(routes[index].served, values) }
            methods.append(routes[index].method)
        }
        return methods.isEmpty ? .unknownPath : .otherMethods(methods)
    }
}

/// The path of a route, for example `/v1/devices/{id}`.
public struct PathPattern: Hashable, Sendable {
    /// One segment.
    public enum Segment: Hashable, Sendable {
        /// This text.
        case literal(String)
        /// Any text that is not empty, under a name.
        case parameter(String)
    }

    /// The text as OpenAPI writes it.
    public let text: String
    /// The segments between the slashes.
    public let segments: [Segment]

    /// Reads a pattern: `{name}` is a parameter, all else a literal.
    public init(_ text: String) {
        self.text = text
        segments = text.dropFirst().split(separator: "/").map { segment in
            segment.hasPrefix("{")
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
    }

    /// The values of the parameters, or nil if the path is another.
    public func match(_ path: [String]) -> PathValues? {
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

/// The values of the parameters of a path.
public struct PathValues: Sendable {
    /// Each value by the name of its parameter.
    public let values: [String: String]

    /// Creates values.
    public init(values: [String: String]) { self.values = values }

    /// The value of a parameter of the route's own pattern.
    public subscript(_ name: String) -> String { values[name] ?? "" }
}
