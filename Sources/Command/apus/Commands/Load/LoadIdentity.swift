import Crypto
import EventLoop
import Glibc
import PushServiceSimulator

/// The certificate of the simulator, kept for later runs beside the file that workers trust.
enum LoadIdentity {
    /// How old a kept certificate may be, in seconds: two thirds of its life.
    private static let ageMaximumSeconds: Int64 = ServingConfiguration.identitySeconds * 2 / 3

    /// Gives the kept identity, or makes one.
    ///
    /// - Parameter anchorFile: the file that workers trust.
    /// - Returns: the identity of this and the next simulators.
    /// - Throws: `CommandFailure` (`cannotCreate`) if the file is there and is not of an earlier run: it could be a
    ///   certificate that somebody needs.
    static func prepare(anchorFile: String) throws -> ServerIdentity {
        let path = anchorFile + ".simulator"
        let now = WallClock.nowMilliseconds() / 1_000
        var status = stat()
        let isKept = stat(path, &status) == 0
        if isKept, now - Int64(status.st_mtim.tv_sec) < ageMaximumSeconds, access(anchorFile, R_OK) == 0 {
            let kept = try SimulateFiles.read(path)
            let text = String(decoding: kept, as: UTF8.self)
            let certificate = String(decoding: try SimulateFiles.read(anchorFile), as: UTF8.self)
            if text.hasPrefix(certificate) {
                return ServerIdentity(
                    certificateChainPEM: certificate, privateKeyPEM: String(text.dropFirst(certificate.count)))
            }
        }
        guard isKept || access(anchorFile, F_OK) != 0 else {
            throw CommandFailure(
                .cannotCreate,
                "\(anchorFile) is there and was not written by 'apus load': if it is of a running 'apus simulate', "
                    + "give its --record FILE; else name another ca_file")
        }
        let identity = try ServingConfiguration.makeIdentity(nowSeconds: now)
        try SimulateFiles.write(identity.certificateChainPEM + identity.privateKeyPEM, to: path, mode: 0o600)
        try SimulateFiles.write(identity.certificateChainPEM, to: anchorFile, mode: 0o644)
        return identity
    }
}
