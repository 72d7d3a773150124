import HTTPServer

extension AdminServerError {
    /// What kept the HTTP server from starting.
    init(_ error: HTTPServerError) {
        switch error.code {
        case .hostUnknown: self.init(.hostUnknown, error.message)
        case .addressInUse: self.init(.addressInUse, error.message)
        case .certificateInvalid, .failed: self.init(.failed, error.message)
        }
    }
}
