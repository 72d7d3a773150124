import CCurl
internal import EventLoop

/// One request under way: libcurl's handle, and what its callbacks know.
///
/// Lives on the client's loop.
final class PostTransfer {
    let ended: (PostOutcome) -> Void
    var timer: EventLoop.Timer?
    private(set) var handle: UnsafeMutableRawPointer?

    private let request: PostRequest
    /// Whether it ends when the connection is made.
    private let isProbe: Bool
    private var reader: PostAnswerReader
    /// How much of the body libcurl has taken to send it.
    private var bytesTaken = 0
    private var hasRefusedAddress = false
    private var hasOpenedSocket = false
    private let problem = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var lists: [UnsafeMutablePointer<curl_slist>] = []

    init(
        _ request: PostRequest, isProbe: Bool, keptNames: Set<String>, ended: @escaping (PostOutcome) -> Void
    ) {
        self.request = request
        self.isProbe = isProbe
        self.ended = ended
        reader = PostAnswerReader(keptNames: keptNames)
        problem.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        release()
        problem.deallocate()
    }

    /// Makes the handle.
    ///
    /// - Returns: the handle; nil if there is no memory.
    func prepare(_ limits: HTTPMultiClient.Limits) -> UnsafeMutableRawPointer? {
        release()
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        problem[0] = 0
        let destination = request.destination
        let proxyFields = destination.proxy?.authorization.map { ["Proxy-Authorization: \($0)"] } ?? []
        var post = ccurl_post()
        post.connects_only = isProbe ? 1 : 0
        post.is_fresh = request.needsNewConnection ? 1 : 0
        // libcurl asks some servers before it sends a body, unless the field is there and empty.
        post.headers = list(["Expect:"] + request.fields.map { "\($0.name): \($0.value)" })
        post.proxy_headers = list(proxyFields)
        post.body_count = curl_off_t(request.body.count)
        post.connect_timeout_milliseconds = Int(limits.connectTimeoutMilliseconds)
        post.connection_age_seconds_maximum = limits.connectionAgeSecondsMaximum
        post.context = Unmanaged.passUnretained(self).toOpaque()
        post.read = { PostTransfer.of($3)?.read(into: $0, $1 &* $2) ?? 0 }
        post.write_header = { PostTransfer.of($3)?.takeHeader($0, $1 &* $2) ?? 0 }
        if destination.admitsAddress != nil, destination.proxy == nil {
            post.open_socket = { PostTransfer.of($0)?.openSocket(to: $2) ?? CURL_SOCKET_BAD }
        }
        post.write_body = { PostTransfer.of($3)?.takeBody($0, $1 &* $2) ?? 0 }
        post.problem = problem
        let url = "\(destination.scheme)://\(destination.urlHost):\(destination.port)\(request.path)"
        let code = url.withCString { url in
            destination.caFile.withCString { caFile in
                (destination.proxy?.url ?? "").withCString { proxy in
                    destination.scheme.withCString { scheme in
                        post.url = url
                        post.scheme = scheme
                        post.ca_file = caFile
                        post.proxy = proxy
                        return ccurl_set_post(handle, &post)
                    }
                }
            }
        }
        return code == CURLE_OK ? handle : nil
    }

    /// The outcome, when libcurl has ended the transfer.
    func outcome(_ code: CURLcode) -> PostOutcome {
        if isProbe, code == CURLE_OK { return .answered(PostAnswer()) }
        // An answer whose head has arrived counts, however the rest of the body fared.
        if var answer = reader.finalAnswer {
            answer.isOnNewConnection = handle.map { ccurl_connection_count($0) > 0 } ?? false
            return .answered(answer)
        }
        var text = String(cString: problem)
        if hasRefusedAddress, !hasOpenedSocket { text = "no address of the name may be connected to" }
        if text.isEmpty { text = String(cString: curl_easy_strerror(code)) }
        return failed(PostFailure(Self.kind(code), text))
    }

    /// The outcome, when the client ends the transfer.
    func outcome(_ failure: PostFailure) -> PostOutcome {
        reader.finalAnswer.map { .answered($0) } ?? failed(failure)
    }

    private func failed(_ failure: PostFailure) -> PostOutcome {
        bytesTaken == 0 ? .notSent(failure) : .ambiguous(failure)
    }

    /// Frees libcurl's handle, which must not be in a multi handle any more.
    func release() {
        if let handle { curl_easy_cleanup(handle) }
        handle = nil
        for list in lists { curl_slist_free_all(list) }
        lists = []
    }

    private func list(_ texts: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts { list = curl_slist_append(list, text) ?? list }
        if let list { lists.append(list) }
        return list
    }

    // MARK: Callbacks of libcurl

    private static func of(_ context: UnsafeMutableRawPointer?) -> PostTransfer? {
        context.map { Unmanaged<PostTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private func read(into buffer: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
        guard let buffer else { return 0 }
        let part = request.body[bytesTaken...].prefix(room)
        UnsafeMutableRawBufferPointer(start: buffer, count: room).copyBytes(from: part)
        bytesTaken += part.count
        return part.count
    }

    private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address else { return CURL_SOCKET_BAD }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { $1 = ccurl_address_bytes(address, $0.baseAddress) }
        guard request.destination.admitsAddress?(bytes) == true else {
            hasRefusedAddress = true
            return CURL_SOCKET_BAD
        }
        hasOpenedSocket = true
        return ccurl_open_socket(address)
    }

    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        reader.take(line: UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        reader.take(body: UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private static func kind(_ code: CURLcode) -> PostFailure.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .nameUnresolved
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: .certificateRejected
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED: .tls
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY: .requestInvalid
        default: .connectionLost
        }
    }
}
