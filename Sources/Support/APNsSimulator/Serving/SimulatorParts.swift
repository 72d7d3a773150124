import Crypto

/// What all loops of a simulator share.
struct SimulatorParts: Sendable {
    let configuration: SimulatorConfiguration
    let tls: TLSContext
    let keys: [String: (teamID: String, key: ES256PublicKey)]
    let recordFile: RecordFile?
    let identifiers: AcceptedIdentifiers
    let progress: SimulatorProgress
    let faults: FaultBook
    let channels = ChannelStore()
    /// The certificate of somebody else, for connections that are to be shown it.
    let foreignTLS: TLSContext
}
