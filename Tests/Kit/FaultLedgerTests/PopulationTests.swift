import JSON
import PushTestKit
import Testing

@testable import FaultLedger

@Suite("The devices of the fault program")
struct PopulationTests {
    private let population = Population(
        identityCount: 30, crowdCount: 6, services: ServiceKind.allCases, seed: 3)

    @Test("The devices of an identity have different push services, so each change goes to several")
    func servicesAreMixed() {
        let readers = population.deviceRange.filter { population.role(of: $0) == .reader }
        for service in ServiceKind.allCases {
            #expect(readers.contains { population.service(of: $0) == service })
        }
        let change = LedgerEvent(number: 0, content: .change(identity: 2, syncCount: 1))
        #expect(Set(population.audience(of: change).map(population.service)).count == 2)
    }

    @Test("Devices of the development environment are told by their tokens, and only where there are such")
    func sandbox() {
        let mixed = Population(identityCount: 30, services: [.apns], hasSandbox: true, seed: 3)
        let sandbox = mixed.deviceRange.filter(mixed.isSandbox)
        #expect(!sandbox.isEmpty && sandbox.allSatisfy { mixed.token(of: $0).hasPrefix(Population.sandboxPrefix) })
        let lines = mixed.importLines { _ in "" }
        #expect(lines.split(separator: "\n").count { $0.contains(#""APNS_SANDBOX""#) } == sandbox.count)
        #expect(!population.deviceRange.contains(where: population.isSandbox))
    }

    @Test("Each device has an address of its own, and is imported in the form of its service")
    func importsEachService() throws {
        let lines = population.importLines { browser in
            #"{"endpoint":"https://localhost/\#(browser.name)"}"#
        }
        let parser = JSONParser()
        var addresses: Set<String> = []
        for (device, line) in lines.split(separator: "\n").enumerated() {
            let object = try parser.parse(Array(line.utf8))
            #expect(object["deviceId"]?.string == Population.deviceText(device))
            let address = object["token"]?.string ?? object["subscription"]?["endpoint"]?.string ?? ""
            #expect(address.hasSuffix(population.token(of: device)))
            addresses.insert(address)
            let platform: String =
                switch population.service(of: device) {
                case .apns: "APNS"
                case .fcm: "GCM"
                case .webpush: "WEB_PUSH"
                }
            #expect(object["platform"]?.string == platform)
            #expect(population.device(token: population.token(of: device)) == device)
        }
        #expect(addresses.count == population.deviceRange.count)
    }

    @Test("The devices that are gone are named to their own service")
    func scriptsEachService() {
        let gone = population.deviceRange.filter { population.role(of: $0) == .gone }
        let lines = ServiceKind.allCases.map { population.scriptLines(of: $0).split(separator: "\n") }
        #expect(lines.joined().count == gone.count)
        for (service, lines) in zip(ServiceKind.allCases, lines) {
            let own = gone.filter { population.service(of: $0) == service }
            #expect(lines.map(String.init) == own.map { service.goneLine(population.token(of: $0)) })
        }
    }

    @Test("Browsers are dealt out to the simulated services, and keep the names that these have for them")
    func dealsOutBrowsers() {
        let browsers = (0..<12).map { Browser(number: $0) }
        #expect(browsers[0].name == "plain-0000000" && browsers[11].name == "fcm-0000002")
        #expect(Set(browsers.map(\.name)).count == 12 && Set(browsers.map(\.origin)).count == 5)
    }
}
