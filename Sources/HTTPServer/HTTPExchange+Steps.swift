import CMicroHTTPD
import Glibc
import Synchronization

extension HTTPExchange {
    /// How much of a body that is too long is read and dropped, so that its sender is still there for the answer.
    private static let droppedBytesMaximum = 1 << 20

    private enum Step {
        case wait
        case close
        case send(HTTPResponse)
        case handle(HTTPRequest)
    }

    /// Takes the head of the request, then each piece of its body, and at last its end: the library calls in this
    /// order, and once more after a deferred answer.
    func proceed(
        on connection: OpaquePointer, method: UnsafePointer<CChar>, uploaded: UnsafeBufferPointer<CChar>
    ) -> MHD_Result {
        let step = state.withLock { state in
            if !state.isHeadRead { return readHead(&state, connection) }
            if !uploaded.isEmpty { return take(uploaded, &state) }
            return end(&state, connection, method)
        }
        switch step {
        case .wait: return cmicrohttpd_yes()
        case .close: return cmicrohttpd_no()
        case .send(let response): return Self.send(response, on: connection)
        case .handle(let request):
            guard let response = server.answer(request, of: self, on: connection) else { return cmicrohttpd_yes() }
            return Self.send(response, on: connection)
        }
    }

    private func readHead(_ state: inout State, _ connection: OpaquePointer) -> Step {
        state.isHeadRead = true
        state.headSeconds = Self.nowSeconds()
        state.fields = Self.fields(of: connection)
        state.target = HTTPTarget(rawTarget)
        if state.target == nil {
            state.refusal = .malformed("the path or the query is not well-formed (RFC 3986)")
        } else if state.fields.contains(where: { $0.name.isEmpty }) {
            state.refusal = .malformed("a header field is not UTF-8")
        }
        guard let length = Self.bodyLength(state.fields) else {
            return .send(refused(.malformed("the length of the body is not told in one way (RFC 9112 section 6.3)")))
        }
        let limit = server.configuration.bodyBytesMaximum
        if length > limit + Self.droppedBytesMaximum {
            return .send(refused(.bodyTooLong(bytesMaximum: limit)))
        }
        return .wait
    }

    /// The length of the body as far as the head tells it, 0 for one in chunks; nil if the head tells it in several
    /// ways, of which a proxy before us may have believed another.
    private static func bodyLength(_ fields: [HTTPField]) -> Int? {
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
        guard codings.isEmpty else { return codings == ["chunked"] && lengths.isEmpty ? 0 : nil }
        guard let text = lengths.first else { return 0 }
        guard lengths.count == 1, let length = Int(text), length >= 0, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return length
    }

    private func take(_ uploaded: UnsafeBufferPointer<CChar>, _ state: inout State) -> Step {
        let limit = server.configuration.bodyBytesMaximum
        state.uploadedBytes += uploaded.count
        if state.uploadedBytes > limit {
            state.refusal = .bodyTooLong(bytesMaximum: limit)
            state.body = []
        }
        let seconds = Self.nowSeconds() - state.headSeconds
        guard state.uploadedBytes <= limit + Self.droppedBytesMaximum,
            seconds <= server.configuration.bodySecondsMaximum
        else { return .close }
        if state.refusal == nil {
            uploaded.withMemoryRebound(to: UInt8.self) { state.body.append(contentsOf: $0) }
        }
        return .wait
    }

    private func end(_ state: inout State, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>) -> Step {
        if let response = state.response { return .send(response) }
        if let refusal = state.refusal { return .send(refused(refusal)) }
        // It was resumed without an answer, or the library calls again while it is suspended; neither happens.
        guard state.suspendedConnection == nil, let target = state.target else { return .close }
        let request = HTTPRequest(
            method: String(cString: method), target: target, fields: state.fields, body: state.body,
            clientAddress: Self.clientAddress(of: connection))
        state.fields = []
        state.body = []
        return .handle(request)
    }

    private static func nowSeconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }

    private func refused(_ refusal: HTTPRefusal) -> HTTPResponse {
        server.response(to: refusal, rawTarget: rawTarget)
    }

    // MARK: The library's words

    /// The header fields; a field that is not UTF-8 has no name.
    private static func fields(of connection: OpaquePointer) -> [HTTPField] {
        var fields: [HTTPField] = []
        withUnsafeMutablePointer(to: &fields) { pointer in
            cmicrohttpd_each_field(
                connection,
                { context, _, name, nameSize, value, valueSize in
                    guard let fields = context?.assumingMemoryBound(to: [HTTPField].self) else {
                        return cmicrohttpd_no()
                    }
                    let texts = [(name, nameSize), (value, valueSize)].map { start, count in
                        UnsafeBufferPointer(start: start, count: start == nil ? 0 : count).withMemoryRebound(
                            to: UInt8.self
                        ) { String(validating: $0, as: UTF8.self) }
                    }
                    if let name = texts[0], let value = texts[1] {
                        // The library leaves white space at the end.
                        let trimmed = value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
                        fields.pointee.append(HTTPField(name.lowercased(), String(trimmed)))
                    } else {
                        fields.pointee.append(HTTPField("", ""))
                    }
                    return cmicrohttpd_yes()
                }, pointer)
        }
        return fields
    }

    private static func clientAddress(of connection: OpaquePointer) -> String {
        guard let address = cmicrohttpd_client_address(connection) else { return "" }
        let length =
            Int32(address.pointee.sa_family) == AF_INET6
            ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "" }
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func send(_ answer: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        let response = answer.body.withUnsafeBytes { cmicrohttpd_response($0.baseAddress, $0.count) }
        guard let response else { return cmicrohttpd_no() }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store")
        for field in answer.fields { MHD_add_response_header(response, field.name, field.value) }
        return MHD_queue_response(connection, UInt32(clamping: answer.status), response)
    }
}
