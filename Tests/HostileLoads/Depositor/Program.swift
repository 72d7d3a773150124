import EventLoop
import Glibc
import Notifications
import PostgresRegistry
import RegistryCore
import SQLiteRegistry

/// Deposits notifications in a registry as a worker does: by the same call, in a process and over a connection of its
/// own.
///
/// usage: courier-depositor REGISTRY-URL APP
///
/// Each line of the standard input is `NUMBER TOKEN PAYLOAD`, the token in hexadecimal digits. The number is the push's
/// identifier. It is answered with a line when the registry has said what became of it: `NUMBER kept`, `NUMBER gone` if
/// there is no such device, or `NUMBER failed: REASON`. The program ends with its input.
@main
struct Program {
    static func main() {
        guard let arguments = try? ProcessArguments.words(), arguments.count == 2, let url = arguments.first,
            let app = arguments.last
        else {
            end("usage: courier-depositor REGISTRY-URL APP")
        }
        do throws(RegistryError) {
            let registry = try open(url)
            while let line = readLine() {
                guard let message = message(line, app: app) else { end("a line is not NUMBER TOKEN PAYLOAD") }
                print(message.pushID.low, deposit(message, in: registry))
                // The C library fills a block before it writes to a pipe, and the reader waits for this line.
                fflush(nil)
            }
        } catch {
            end(error.message)
        }
    }

    private static func open(_ url: String) throws(RegistryError) -> any CourierRegistry {
        let prefix = "sqlite:"
        return url.hasPrefix(prefix)
            ? try SQLiteRegistry.open(path: String(url.dropFirst(prefix.count)), mode: .readWrite)
            : try PostgresRegistry.open(url: url, mode: .readWrite)
    }

    private static func message(_ line: String, app: String) -> CourierMessage? {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let number = UInt64(words[0]), let token = DeviceToken(hexadecimal: words[1]) else {
            return nil
        }
        return CourierMessage(
            token: token, app: app, pushID: APNsIdentifier(high: 0, low: number),
            expiresAtMilliseconds: CourierRules.expiry(
                ofPushExpiring: nil, nowMilliseconds: WallClock.nowMilliseconds()),
            payload: Array(words[2].utf8))
    }

    private static func deposit(_ message: CourierMessage, in registry: any CourierRegistry) -> String {
        do throws(RegistryError) {
            let areThere = try registry.deposit([message], nowMilliseconds: WallClock.nowMilliseconds())
            return areThere == [true] ? "kept" : "gone"
        } catch {
            return "failed: \(error.message)"
        }
    }

    private static func end(_ reason: String) -> Never {
        let bytes = Array("courier-depositor: \(reason)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        exit(1)
    }
}
