import ApusClient
import Foundation

// The other end: says what a payload on the standard input means to an app.
do {
    let payload = try PushPayload(json: FileHandle.standardInput.readDataToEndOfFile())
    print(payload.event)
    for problem in payload.problems { print("left out:", problem) }
} catch {
    print("no payload:", error)
}
