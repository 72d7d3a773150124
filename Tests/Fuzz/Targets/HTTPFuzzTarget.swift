@testable import HTTPServer

/// Drives the life of a connection with any bytes, once whole and once a byte at a time, which must come to the same.
///
/// The owner of the connection carries out each action at once. No body may be longer than was allowed, no request may
/// follow a refusal, and where the stream is cut must change nothing.
struct HTTPFuzzTarget: FuzzTarget {
    private static let bodyBytesMaximum = 256
    private static let piecesMaximum = 4_096
    /// No method begins with a colon.
    private static let refusal = ":refused"

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        let bytes = Array(input.bytes.prefix(Self.piecesMaximum))
        let whole = try serve([bytes])
        let pieces = try serve(bytes.map { [$0] })
        try promise(whole == pieces, "whole it comes to \(whole), a byte at a time to \(pieces)")
        let end = whole.firstIndex { $0.hasPrefix(Self.refusal) }
        try promise(end == nil || end == whole.count - 1, "a request follows a refusal: \(whole)")
    }

    /// Returns the contents of a stream: the requests in their order, and the refusal that ended it.
    private func serve(_ pieces: [[UInt8]]) throws(FuzzFailure) -> [String] {
        var configuration = HTTPServerConfiguration(name: "fuzz", settingName: "fuzz", host: "127.0.0.1", port: 0)
        configuration.headBytesMaximum = 1_024
        var machine = HTTPConnectionMachine(
            configuration: configuration, peer: ClientAddress("192.0.2.1"), isTrustedProxy: true, nowNanoseconds: 0)
        var found: [String] = []
        var waiting: [UInt8] = []
        for piece in pieces {
            // Bytes that are not wanted yet stay in the kernel's buffer.
            waiting += piece
            while machine.wantsInput, machine.phase != .lingering, !waiting.isEmpty {
                let taken = waiting
                waiting = []
                try act(on: machine.received(taken, nowNanoseconds: 1), of: &machine, &found)
            }
        }
        return found
    }

    private func act(
        on actions: [HTTPConnectionMachine.Action], of machine: inout HTTPConnectionMachine, _ found: inout [String]
    ) throws(FuzzFailure) {
        var actions = actions
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .admit: actions += machine.admitted(bodyBytesMaximum: Self.bodyBytesMaximum, nowNanoseconds: 1)
            case .answer(let request):
                try promise(request.body.count <= Self.bodyBytesMaximum, "a body has \(request.body.count) bytes")
                found.append("\(request.method) \(request.target.rawPath) \(request.fields) \(request.body)")
                actions += machine.respond(.text(200, "well"), closes: false, date: "", nowNanoseconds: 1)
            case .refuse(let refusal):
                found.append("\(Self.refusal) \(refusal.status)")
                actions += machine.respond(.text(refusal.status, ""), closes: true, date: "", nowNanoseconds: 1)
            case .send: actions += machine.sent(nowNanoseconds: 1)
            case .endOutput: break
            case .close: return
            }
        }
    }
}
