import Crypto
import HTTPServer
import Notifications
public import RegistryCore

/// `POST /v1/opens`: devices report that their users opened pushes, without a backend in between.
///
/// A receipt of the push shows that the servers asked for it, and one of the device's tokens shows whose report it is.
/// Receipts are checked on the server's thread, before anything is asked of the registry; a report with none that is
/// right ends there. An address has the rate of a credential, and so has a device.
struct OpensAPI: ClientAPI {
    /// How many receipts one report may have.
    static let receiptsMaximum = 100
    private static let path = "/v1/opens"

    let firstSegments = ["v1"]
    let secondSegment: String? = "opens"
    private let receipts: ReceiptAuthentication
    private let keptHours: Int64
    private let credentials: CredentialGuard
    private let nowMilliseconds: @Sendable () -> Int64
    /// Scripts of every page may report: what they know is the only proof.
    private let crossOrigin = CrossOriginPolicy(origins: ["*"], fieldNames: "*")

    init(
        receipts: ReceiptAuthentication, keptHours: Int64 = OpenReceipt.hoursMaximum, credentials: CredentialGuard,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.receipts = receipts
        self.keptHours = keptHours
        self.credentials = credentials
        self.nowMilliseconds = nowMilliseconds
    }

    var routes: [Route] {
        [
            Route("reportOpens", "POST", Self.path) { request, _ in admit(request) },
            Route("preflight", "OPTIONS", Self.path) { _, _ in .answered(crossOrigin.preflight(methods: "POST")) },
        ]
    }

    func refusal(_ status: Int, _ message: String, retryAfterSeconds: Int?) -> HTTPResponse {
        NativeProblem(status: status, message, retryAfterSeconds: retryAfterSeconds).response
    }

    func completed(_ response: HTTPResponse, for fields: [HTTPField]) -> HTTPResponse {
        crossOrigin.completed(response, for: fields)
    }

    // MARK: Reports

    private func admit(_ request: HTTPRequest) -> Admission {
        let sender = "opens \(request.clientShare)"
        if let wait = credentials.take(sender) { return .answered(Self.tooMany(retryAfterSeconds: wait)) }
        let report: OpenReport
        do throws(NativeProblem) {
            report = try OpenReport(
                request, receipts, keptHours: keptHours, nowMilliseconds: nowMilliseconds())
        } catch {
            return .answered(error.response)
        }
        guard !report.isVoid else { return .answered(report.response(ofRight: [])) }
        let step = RegistryStep.reading { context in
            let token: DeviceToken?
            do throws(RegistryError) {
                token = try context.using { (registry) throws(RegistryError) in try report.provenToken(in: registry) }
            } catch {
                return .answered(NativeProblem(error).response)
            }
            guard let token else { return .answered(report.response(ofRight: [])) }
            if let wait = credentials.take("device \(report.deviceID)") {
                return .answered(Self.tooMany(retryAfterSeconds: wait))
            }
            return .last(writes: true, from: context) { context in
                do throws(RegistryError) {
                    let results = try context.using { (registry) throws(RegistryError) in
                        try registry.countOpens(report.opens(token: token), nowMilliseconds: context.nowMilliseconds)
                    }
                    return report.response(ofRight: results)
                } catch {
                    return NativeProblem(error).response
                }
            }
        }
        return .admitted(as: sender, step)
    }

    private static func tooMany(retryAfterSeconds: Int) -> HTTPResponse {
        NativeProblem(
            .tooManyRequests, "There are too many reports from this address or device.",
            retryAfterSeconds: retryAfterSeconds
        ).response
    }
}

extension ReceiptAuthentication {
    /// The secret of the servers of a registry with this key.
    public static func ofServers(with key: CourierKey) -> ReceiptAuthentication {
        ReceiptAuthentication(key) { MessageAuthentication.code(of: $0, key: $1) }
    }
}
