import ApusClient
import Foundation

/// One phone of the chat, as a process: `chat-client USER TOKEN BACKEND-URL PUSHES-FILE [TEXT]`.
///
/// With a text it says that and ends; without one it listens, and prints what the others say.
@main
struct ChatClient {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let url = URL(string: arguments[3]) else {
            print("usage: chat-client USER TOKEN BACKEND-URL PUSHES-FILE [TEXT]")
            exit(64)
        }
        let (user, token) = (arguments[1], arguments[2])
        let deviceID = "\(user)-\(token.prefix(8))"
        let session = "session-\(user)"

        // Tell the registry, through the backend, where this phone is.
        let client = RegistrationClient(url: url) { _ in session }
        let registrar = InstallationRegistrar(client: client, installation: AppInstallation(deviceID: deviceID))
        try await registrar.addressChanged(to: .apple(token: bytes(token), isSandbox: false))

        // Fetch what there is, and from then on what a push names.
        let chat = DatasetName(identityPoolID: pool, identityID: identities[user] ?? "", name: "chat")
        let messages = MemoryDatasetStore()
        let synchronizer = DatasetSynchronizer(
            remote: Backend(url: url, session: session, deviceID: deviceID), local: messages,
            counts: SyncCountStore(persistence: CountsInMemory()), callbacks: Conversation(user: user))
        await synchronizer.synchronize(chat)

        if arguments.count > 5 {
            await messages.set("\(user): \(arguments[5])", for: UUID().uuidString, in: chat)
            guard await synchronizer.synchronize(chat) else { exit(1) }
        } else {
            for try await json in PhoneSystem(record: arguments[4], token: token).pushes() {
                do {
                    await synchronizer.handle(try PushPayload(json: json).event)
                } catch {
                    print("a push that is none of ours: \(error)")
                }
            }
        }
    }

    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let identities = ["mei": "us-east-1:0a", "ben": "us-east-1:0b"]

    private static func bytes(_ hexadecimal: String) -> Data {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}

/// What this phone shows: each message that somebody else wrote.
struct Conversation: SyncCallbacks {
    let user: String

    func onSuccess(_ dataset: DatasetName, updatedRecords: [RemoteRecord]) async {
        for message in updatedRecords.compactMap(\.value) where !message.hasPrefix("\(user): ") { print(message) }
        fflush(nil)
    }

    func onDatasetDeleted(_ dataset: DatasetName) async -> Bool { true }

    func onDatasetsMerged(_ dataset: DatasetName, mergedDatasetNames: [String]) async -> Bool { false }

    func onFailure(_ dataset: DatasetName, error: SyncError) async { print("later: \(error)") }
}

/// Each start fetches all messages, so the count begins at 0 again; an app with a database uses `SyncCountFile`.
struct CountsInMemory: SyncCountPersistence {
    func loadSyncCounts() -> SyncCounts? { nil }
    func saveSyncCounts(_ counts: SyncCounts) {}
}
