import Essentials
import Notifications
import PushTestKit
import Testing

@testable import RegistryCore

/// The keys by which registries keep addresses.
///
/// A released form never changes.
struct AddressKeyTests {
    private func hexadecimal(_ bytes: [UInt8]) -> String { HexadecimalDigits.text(bytes) }

    @Test("Bytes, and tokens of FCM that fit, are their own keys under the numbers of the first release")
    func plain() throws {
        for (platform, number) in [(Platform.apns, 0), (.apnsSandbox, 1), (.gcm, 2), (.courier, 3)] {
            for count in [1, 32, 256] {
                let token = try SampleAddress.make(platform, "t", bytes: count)
                let key = AddressKey(token, platform)
                #expect(key.bytes == token.bytes && key.platformNumber == Int64(number))
                #expect(!key.isMarked && !key.isDigest)
            }
        }
    }

    @Test("Texts of other kinds have a mark, and longer ones a digest")
    func marked() throws {
        let fid = try SampleAddress.make(.gcm, "fid", isInstallationID: true)
        let amazon = try SampleAddress.make(.adm, "amzn1")
        #expect(hexadecimal(AddressKey(fid, .gcm).bytes) == "02666964")
        #expect(hexadecimal(AddressKey(amazon, .adm).bytes) == "03616d7a6e31")
        let long = try SampleAddress.make(.gcm, "t", bytes: 257)
        #expect(
            hexadecimal(AddressKey(long, .gcm).bytes)
                == "111ef3cb9d8bf44974a20cb1c60c0c57cbc52fcc0b2068072d31eabcb40b98160c")
        let endpoint = try #require(
            DeviceToken(
                text: Array("https://push.example/a".utf8), details: try SampleAddress.make(.webPush, "a").details))
        #expect(
            hexadecimal(AddressKey(endpoint, .webPush).bytes)
                == "14378f13c84514cc9b2fdf033f09eee9fe06789b7526df2a95bc6d38cf8f2b9a6a")
        for (token, platform) in [(long, Platform.gcm), (endpoint, .webPush), (fid, .gcm), (amazon, .adm)] {
            let key = AddressKey(token, platform)
            #expect(key.isMarked && key.platformNumber == 2 && key.bytes.count <= AddressKey.bytesMaximum)
        }
    }

    @Test("Keys and end of a subscription make no other key")
    func subscriptions() throws {
        let keys = Set(
            try [(1, nil), (2, nil), (2, 5)].map { (generation: UInt8, end: Int64?) in
                AddressKey(
                    try SampleAddress.make(.webPush, "e", generation: generation, expiresAtMilliseconds: end), .webPush)
            })
        #expect(keys.count == 1)
    }

    @Test("No text has one key at two services, whatever its length", arguments: [1, 22, 254, 255, 256, 257, 2_048])
    func services(_ count: Int) throws {
        let keys = try [
            AddressKey(SampleAddress.make(.gcm, "t", bytes: count), .gcm),
            AddressKey(SampleAddress.make(.gcm, "t", bytes: count, isInstallationID: true), .gcm),
            AddressKey(SampleAddress.make(.adm, "t", bytes: count), .adm),
        ].map(\.bytes)
        #expect(Set(keys).count == 3 && keys.allSatisfy { (1...AddressKey.bytesMaximum).contains($0.count) })
    }

    @Test("A program of the first schema finds only numbers that it knows, and marks that are no text")
    func oldPrograms() throws {
        for platform in Platform.allCases {
            let key = AddressKey(try SampleAddress.make(platform, "t", bytes: 100), platform)
            #expect((0...3).contains(key.platformNumber))
            let isText = DeviceToken(text: key.bytes) != nil
            #expect(!key.isMarked || !isText && DeviceToken(bytes: key.bytes) != nil)
        }
    }

    @Test("What a key does not hold is read from its row, and bytes that are no key are a token of GCM, as before")
    func reading() throws {
        for bytes in [[0x00], [0x01, 0x61], [0x04, 0x61], [0x13, 1, 2], [0x02], [0x03, 0x20]] as [[UInt8]] {
            guard case .address(.gcm, let token)? = AddressKey.read(platformNumber: 2, bytes) else {
                Issue.record("\(bytes)")
                continue
            }
            #expect(token.bytes == bytes && token.details == nil)
        }
        #expect(AddressKey.read(platformNumber: 4, [0x61]) == nil && AddressKey.read(platformNumber: -1, [0x61]) == nil)
        #expect(AddressKey.read(platformNumber: 0, []) == nil && AddressKey.read(platformNumber: 2, []) == nil)
    }
}
