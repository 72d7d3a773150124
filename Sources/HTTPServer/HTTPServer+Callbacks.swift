import CMicroHTTPD

extension HTTPServer {
    /// What the library calls, each time on its own thread.
    ///
    /// - Parameter context: a `Core` that outlives the daemon.
    /// - Returns: functions without a context of their own, as C wants them.
    static func callbacks(_ context: UnsafeMutableRawPointer) -> cmicrohttpd_callbacks {
        cmicrohttpd_callbacks(
            context: context,
            target: { context, target, _ in
                guard let context, let target else { return nil }
                let core = Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
                return Unmanaged.passRetained(core.begin(rawTarget: String(cString: target))).toOpaque()
            },
            access: { _, connection, _, method, _, upload, uploadSize, exchange in
                guard let connection, let method, let uploadSize, let pointer = exchange?.pointee else {
                    return cmicrohttpd_no()
                }
                let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
                let bytes = UnsafeBufferPointer(start: upload, count: upload == nil ? 0 : uploadSize.pointee)
                uploadSize.pointee = 0
                return exchange.proceed(on: connection, method: method, uploaded: bytes)
            },
            completed: { context, _, exchange, _ in
                guard let context, let pointer = exchange?.pointee else { return }
                Unmanaged<HTTPExchange>.fromOpaque(pointer).release()
                Unmanaged<Core>.fromOpaque(context).takeUnretainedValue().completed()
            })
    }
}
