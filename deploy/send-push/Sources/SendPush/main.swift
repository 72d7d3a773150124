import APNs

let client = try PushClient(
    PushConfiguration(
        bundleID: "com.example.chat", key: .file("AuthKey_ABC123DEFG.p8"), keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
let message = try PushMessage([.title("Mei Chen"), .body("Are you there?"), .sound("default")])
let result = try await client.send(message, to: PushToken(CommandLine.arguments.last ?? ""))
print(result.outcome)
await client.close()
