import FCM

let configuration = FCMConfiguration(serviceAccount: .file("service-account.json"))
let token = CommandLine.arguments.last ?? ""
let client = try FCMClient(configuration)
let message = try FCMMessage([.title("Mei Chen"), .body("Are you there?"), .channel("chat")])
let result = try await client.send(message, to: FCMTarget(token: token))
print(result.outcome, result.messageName ?? "")
await client.close()
