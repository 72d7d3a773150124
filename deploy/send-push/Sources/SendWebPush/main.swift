import FoundationEssentials
import WebPush

let configuration = WebPushConfiguration(
    key: try VAPIDKey(file: "vapid.pem"), subject: "mailto:push@example.com")
let json = Data((CommandLine.arguments.last ?? "").utf8)
let client = try WebPushClient(configuration)
let subscription = try JSONDecoder().decode(WebPushSubscription.self, from: json)
let message = try WebPushMessage(json: ["title": "Mei Chen", "body": "Are you there?"])
let result = await client.send(message, to: subscription)
print(result.outcome)
await client.close()
