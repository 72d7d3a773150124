import APNs
import APNsSimulator
import Crypto
import FoundationEssentials
import Testing

@Suite("Broadcast channels, against the simulator")
struct BroadcastChannelsTests {
    private static func update(_ expiration: PushExpiration) throws -> PushMessage {
        try PushMessage(
            [.liveActivity(.update(contentState: ["home": 1], timestamp: Date(timeIntervalSince1970: 1_800_000_000)))],
            expiration: expiration)
    }

    /// The reason with which a call is rejected.
    private static func reason(_ body: () async throws(ChannelError) -> Void) async -> String {
        do throws(ChannelError) {
            try await body()
            return "accepted"
        } catch {
            guard case .rejected(let rejection) = error else { return "\(error)" }
            return rejection.reason.rawValue
        }
    }

    @Test("A channel is made, read, listed, sent to and deleted")
    func livesAChannelsLife() async throws {
        let service = try await PushService()
        let channels = try BroadcastChannels(service.configuration())
        #expect(try await channels.list().isEmpty)
        let kept = try await channels.create(storing: .mostRecent)
        let fleeting = try await channels.create(storing: .nothing)
        #expect(try await channels.list() == [kept, fleeting].sorted())
        #expect(try await channels.storagePolicy(of: kept) == .mostRecent)
        #expect(try await channels.storagePolicy(of: fleeting) == .nothing)
        try await channels.send(try Self.update(.after(.seconds(60))), to: kept)
        try await channels.send(try Self.update(.immediately), to: fleeting)
        let end = try PushMessage(
            [.liveActivity(.end(timestamp: Date(timeIntervalSince1970: 1_800_000_000)))], expiration: .immediately)
        try await channels.send(end, to: fleeting)
        try await channels.delete(fleeting)
        #expect(try await channels.list() == [kept])
        _ = try await service.simulator.stop()
    }

    @Test("What APNs does not do has its reason")
    func isRejected() async throws {
        let service = try await PushService { $0.bundleIDs = ["com.example.chat"] }
        let channels = try BroadcastChannels(service.configuration())
        let channel = try await channels.create(storing: .nothing)
        let update = try Self.update(.after(.seconds(60)))
        #expect(
            await Self.reason { () throws(ChannelError) in try await channels.send(update, to: channel) }
                == "BadExpirationDate")
        #expect(
            await Self.reason { () throws(ChannelError) in try await channels.send(update, to: "none") }
                == "ChannelNotRegistered")
        #expect(
            await Self.reason { () throws(ChannelError) in try await channels.delete("none") }
                == "ChannelNotRegistered")
        let others = try BroadcastChannels(service.configuration(bundleID: "com.example.other"))
        #expect(await Self.reason { () throws(ChannelError) in _ = try await others.list() } == "TopicDisallowed")
        let strangers = try BroadcastChannels(
            service.configuration(key: .pem(try ES256PrivateKey.generate().pem)))
        #expect(
            await Self.reason { () throws(ChannelError) in _ = try await strangers.list() }
                == "InvalidProviderToken")
        _ = try await service.simulator.stop()
    }

    @Test("A broadcast cannot start an activity, nor be something else, and a server that is away was not reached")
    func isRefusedBeforehand() async throws {
        let service = try await PushService()
        let channels = try BroadcastChannels(service.configuration())
        let start = try PushMessage([
            .liveActivity(
                .start(attributesType: "Match", attributes: ["a": 1], contentState: ["b": 2], timestamp: .now)),
            .title("Match"),
        ])
        for message in [start, try PushMessage([.body("Hello")])] {
            await #expect {
                try await channels.send(message, to: "any")
            } throws: { error in
                guard case .invalid(let error)? = error as? ChannelError else { return false }
                return error.code == .messageInvalid
            }
        }
        _ = try await service.simulator.stop()
        await #expect {
            try await channels.list()
        } throws: { error in
            guard case .failed(.notProcessed)? = error as? ChannelError else { return false }
            return true
        }
    }
}
