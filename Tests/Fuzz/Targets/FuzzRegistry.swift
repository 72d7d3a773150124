import Foundation
import PushTestKit
import RegistryCore
import SQLiteRegistry

@testable import RegistryAPI

/// A registry for each input: a copy of one that was made once.
enum FuzzRegistry {
    /// The tokens of the API, which are their own names: what each may do, and for which app.
    private static let tokens: [(name: String, app: String?, permission: APIToken.Permission)] = [
        ("write", nil, .write), ("read", nil, .read), ("chat", "chat", .write),
    ]

    private static let template = Result {
        let folder = try TemporaryFolder()
        try fill(folder.path + "/registry.db")
        return try Data(contentsOf: URL(fileURLWithPath: folder.path + "/registry.db"))
    }

    private static func fill(_ path: String) throws {
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        for token in tokens {
            try registry.saveToken(
                APIToken(
                    name: token.name, digest: BearerToken.digest(of: token.name), app: token.app,
                    permission: token.permission, createdAtMilliseconds: 1))
        }
    }

    /// Opens a new registry that has the tokens and nothing else, in a folder that goes with the last reference to it.
    static func open() throws(FuzzFailure) -> (registry: SQLiteRegistry, folder: TemporaryFolder) {
        do {
            let folder = try TemporaryFolder()
            let path = folder.path + "/registry.db"
            try template.get().write(to: URL(fileURLWithPath: path))
            return (try SQLiteRegistry.open(path: path, mode: .readWrite), folder)
        } catch {
            throw FuzzFailure("there is no registry: \(error)")
        }
    }
}
