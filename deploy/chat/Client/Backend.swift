import ApusClient
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The chat's store at the backend: what changed since a count, and new messages.
struct Backend: RemoteDatasetStore {
    let url: URL
    let session: String
    let deviceID: String

    private struct Records: Codable {
        var records: [RemoteRecord]
        var syncCount: Int64?
        var exists: Bool?
        var deviceId: String?
    }

    private struct UnexpectedAnswer: Error {
        let status: Int
    }

    func updates(of dataset: DatasetName, since syncCount: Int64) async throws -> DatasetUpdates {
        let (_, found) = try await send("GET", "changes?since=\(syncCount)", nil)
        return DatasetUpdates(
            records: found?.records ?? [], syncCount: found?.syncCount ?? 0, exists: found?.exists ?? false)
    }

    func store(
        _ records: [LocalRecord], in dataset: DatasetName, sessionToken: String?
    ) async throws -> UploadAnswer {
        let changes = records.map { RemoteRecord(key: $0.key, value: $0.value, syncCount: $0.syncCount) }
        let (status, stored) = try await send("POST", "records", Records(records: changes, deviceId: deviceID))
        return status == 409 ? .conflict : .stored(stored?.records ?? [])
    }

    private func send(_ method: String, _ path: String, _ body: Records?) async throws -> (status: Int, Records?) {
        guard let target = URL(string: "\(url.absoluteString)/\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization")
        request.httpBody = try body.map { try JSONEncoder().encode($0) }
        let (json, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status != 409 else { return (status, nil) }
        guard status == 200 else { throw UnexpectedAnswer(status: status) }
        return (status, try JSONDecoder().decode(Records.self, from: json))
    }
}
