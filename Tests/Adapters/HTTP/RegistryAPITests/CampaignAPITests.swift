import Essentials
import JSON
import Notifications
import PushTestKit
import RegistryCore
import TestTraits
import Testing

@testable import RegistryAPI

@Suite("Backends read the counts of campaigns", .ownThread)
struct CampaignAPITests {
    private static let now: Int64 = 1_700_000_000_000
    private static let hour = now / 3_600_000
    private let fixture: RegistryFixture
    private let client: NativeClient

    init() throws {
        fixture = try RegistryFixture()
        client = try NativeClient(fixture, permission: .read)
    }

    /// Counts a push for each of some hours.
    private func count(_ name: String, app: String = "chat", hoursAgo: [Int64] = [0]) throws {
        let pushes = hoursAgo.map { hours in
            CampaignPush(
                campaign: CampaignKey(app: app, name: name), platform: .gcm, hour: Self.hour - hours,
                digest: .random(in: .min ... .max), endings: [.matched, .accepted])
        }
        _ = try fixture.registry().countPushes(pushes, nowMilliseconds: Self.now)
    }

    private func names(_ path: String, _ client: NativeClient? = nil) throws -> (names: [String], next: String?) {
        let answer = (client ?? self.client).send("GET", path)
        let value = try JSONParser().parse(answer.body)
        let campaigns = value["campaigns"]?.array.map(Array.init) ?? []
        return (
            campaigns.map { "\($0["app"]?.string ?? "")/\($0["campaign"]?.string ?? "")" }, value["next"]?.string
        )
    }

    @Test("Campaigns come in pages, the newest first, of one app or of all")
    func lists() throws {
        for number in 0..<5 { try count("c\(number)", app: number % 2 == 0 ? "chat" : "mail") }
        let first = try names("/v1/campaigns?limit=3")
        #expect(first.names == ["chat/c4", "mail/c3", "chat/c2"])
        let second = try names("/v1/campaigns?limit=3&before=\(try #require(first.next))")
        #expect(second.names == ["mail/c1", "chat/c0"] && second.next == nil)
        #expect(try names("/v1/campaigns?app=mail").names == ["mail/c3", "mail/c1"])
        for query in ["before=", "before=x", "before=-1", "limit=0", "after=1", "before=1&before=2"] {
            #expect(client.send("GET", "/v1/campaigns?\(query)").status == 400, "\(query)")
        }
    }

    @Test("A backend of another app sees nothing of a campaign")
    func otherApps() throws {
        try count("spring")
        let other = client.with(token: try NativeClient.token(fixture, app: "mail", permission: .read))
        let own = client.with(token: try NativeClient.token(fixture, app: "chat", permission: .read))
        #expect(try names("/v1/campaigns", other).names == [])
        #expect(try names("/v1/campaigns", own).names == ["chat/spring"])
        for path in ["/v1/campaigns?app=chat", "/v1/campaigns/chat/spring"] {
            #expect(other.send("GET", path).status == 404)
            #expect(own.send("GET", path).status == 200)
            #expect(client.with(token: nil).send("GET", path).status == 401)
        }
        #expect(client.send("GET", "/v1/campaigns/chat/none").status == 404)
        #expect(client.send("GET", "/v1/campaigns/none/spring").status == 404)
    }

    @Test("A campaign has its sums, and its parts by hour and platform")
    func parts() throws {
        try count("dataset:a/b", hoursAgo: [0, 0, 2])
        let body = client.send("GET", "/v1/campaigns/chat/dataset:a%2Fb").body
        let (last, first) = ("2023-11-14T22:00:00.000Z", "2023-11-14T20:00:00.000Z")
        let rest = #""opened":0,"tokenDead":0,"expired":0,"coalesced":0,"deadLettered":0"#
        #expect(
            body == #"{"app":"chat","campaign":"dataset:a/b","firstHour":"\#(first)","lastHour":"\#(last)","#
                + #""matched":3,"accepted":3,\#(rest),"slices":["#
                + #"{"hour":"\#(first)","platform":"GCM","matched":1,"accepted":1,\#(rest)},"#
                + #"{"hour":"\#(last)","platform":"GCM","matched":2,"accepted":2,\#(rest)}]}"#)
    }

    @Test("Parts are read from one hour through another, a month at a time")
    func ranges() throws {
        try count("spring", hoursAgo: [0, 1, 800, 1_600])
        func hours(_ query: String) throws -> (hours: [Int64], next: String?) {
            let value = try JSONParser().parse(client.send("GET", "/v1/campaigns/chat/spring\(query)").body)
            let slices = value["slices"]?.array.map(Array.init) ?? []
            return (
                slices.compactMap { $0["hour"]?.string.flatMap(WallTime.milliseconds) }
                    .map { Self.hour - $0 / 3_600_000 }, value["next"]?.string
            )
        }
        var found: [Int64] = []
        var query = ""
        for _ in 0..<4 {
            let answer = try hours(query)
            found += answer.hours
            guard let next = answer.next else { break }
            query = "?from=\(next)"
        }
        #expect(found == [1_600, 800, 1, 0])
        #expect(try hours("?from=2023-11-14T21:59:59Z").hours == [1, 0])
        #expect(try hours("?from=2023-11-14T22:00:00Z").hours == [0])
        #expect(try hours("?from=2023-11-14T21:30:00%2B00:00&through=2023-11-14T21:00:00Z").hours == [1])
        #expect(try hours("?from=2023-11-14T23:00:00Z").hours == [])
        #expect(try hours("?from=2023-11-14T22:00:00Z&through=2023-11-14T21:00:00Z").hours == [])
        #expect(try hours("?from=9999-12-31T23:59:59Z").hours == [])
        #expect(try hours("?through=1970-01-01T00:00:00Z").hours == [])
        for query in ["?from=", "?from=2023", "?through=2023-11-14T22:00:00", "?from=1"] {
            #expect(client.send("GET", "/v1/campaigns/chat/spring\(query)").status == 400, "\(query)")
        }
    }
}
