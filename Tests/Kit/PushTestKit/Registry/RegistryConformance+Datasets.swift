import ChangeEvents
import RegistryCore

extension RegistryConformance {
    static let datasetChecks = [
        RegistryConformance("A subscription to a dataset is one, however often it is made") { registry in
            try registry.upsert([try device("a")])
            try registry.subscribe("a", toDataset: "settings")
            try registry.subscribe("a", toDataset: "settings")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: ["a"], "audience")
            try expect(try registry.unsubscribe("a", fromDataset: "settings"), is: true, "end")
            try expect(try registry.unsubscribe("a", fromDataset: "settings"), is: false, "second end")
            try expect(try registry.unsubscribe("none", fromDataset: "settings"), is: false, "end for no device")
            try expect(try registry.unsubscribe("a", fromDataset: "*"), is: false, "end for no dataset name")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: [], "audience afterwards")
        },
        RegistryConformance("Subscribing needs a device, an identity and a dataset's name") { registry in
            try registry.upsert([try device("alone", identity: nil), try device("a")])
            try expect(.notFound, "no device") { try registry.subscribe("none", toDataset: "settings") }
            try expect(.invalid, "no identity") { try registry.subscribe("alone", toDataset: "settings") }
            try expect(.notFound, "all, no device") {
                _ = try registry.subscribeToAllDatasets("none", names: nil, includingFuture: false)
            }
            try expect(.invalid, "all, no identity") {
                _ = try registry.subscribeToAllDatasets("alone", names: nil, includingFuture: true)
            }
            try expect(.notFound, "list, no device") { _ = try registry.datasetSubscriptions(of: "none") }
            for name in ["", "*", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 129)] {
                try expect(.invalid, "name \(name)") { try registry.subscribe("a", toDataset: name) }
            }
            for name in ["aZ0_.:-", String(repeating: "x", count: 128)] {
                try registry.subscribe("a", toDataset: name)
                try expect(try found(.dataset(dataset(name)), in: registry), is: ["a"], "audience")
            }
        },
        RegistryConformance("All known datasets are those recorded and those subscribed to, of the identity") {
            registry in
            try registry.upsert([
                try device("a"), try device("b"), try device("other", identity: "identity:2"),
                try device("pool", pool: "eu-west-1:0"),
            ])
            try registry.recordDatasets([dataset("recorded"), dataset("recorded"), dataset("foreign", identity: "i:3")])
            try registry.recordDatasets([dataset("*"), dataset("bad name"), dataset("")])
            try registry.subscribe("b", toDataset: "subscribed")
            try registry.subscribe("other", toDataset: "others")
            try registry.subscribe("pool", toDataset: "pools")
            let names = try registry.subscribeToAllDatasets("a", names: nil, includingFuture: false)
            try expect(names, is: ["recorded", "subscribed"], "names")
            try registry.recordDatasets([dataset("later")])
            try expect(try found(.dataset(dataset("later")), in: registry), is: [], "later dataset")
            try expect(try found(.dataset(dataset("subscribed")), in: registry), is: ["a", "b"], "audience")
        },
        RegistryConformance("Some of the known datasets can be chosen, an unknown one is an error") { registry in
            try registry.upsert([try device("a")])
            try registry.recordDatasets([dataset("one"), dataset("two"), dataset("three")])
            try expect(.notFound, "unknown name") {
                _ = try registry.subscribeToAllDatasets("a", names: ["one", "four"], includingFuture: true)
            }
            let none = DatasetSubscriptions(datasetNames: [], includesFuture: false)
            try expect(try registry.datasetSubscriptions(of: "a"), is: none, "after the error")
            let names = try registry.subscribeToAllDatasets("a", names: ["two", "one"], includingFuture: false)
            try expect(names, is: ["one", "two"], "names")
            let more = try registry.subscribeToAllDatasets("a", names: ["three"], includingFuture: false)
            try expect(more, is: ["one", "three", "two"], "names with those before")
        },
        RegistryConformance("A subscription to datasets to come matches new ones, before and after they are known") {
            registry in
            try registry.upsert([try device("a"), try device("b"), try device("other", identity: "identity:2")])
            try registry.recordDatasets([dataset("old"), dataset("chosen")])
            let names = try registry.subscribeToAllDatasets("a", names: ["chosen"], includingFuture: true)
            try expect(names, is: ["chosen"], "names")
            let expected = DatasetSubscriptions(datasetNames: ["chosen"], includesFuture: true)
            try expect(try registry.datasetSubscriptions(of: "a"), is: expected, "subscriptions")
            try expect(try found(.dataset(dataset("old")), in: registry), is: [], "known, not chosen")
            try expect(try found(.dataset(dataset("new")), in: registry), is: ["a"], "not known yet")
            try registry.recordDatasets([dataset("new")])
            try expect(try found(.dataset(dataset("new")), in: registry), is: ["a"], "known by now")
            try registry.subscribe("b", toDataset: "newer")
            try expect(try found(.dataset(dataset("newer")), in: registry), is: ["a", "b"], "known by a subscription")
            let foreign = Audience.dataset(dataset("new", identity: "identity:2"))
            try expect(try found(foreign, in: registry), is: [], "another identity")
            try expect(try found(.dataset(dataset("*")), in: registry), is: [], "a name that is none")
        },
        RegistryConformance("Datasets to come can be left one by one, and given up") { registry in
            try registry.upsert([try device("a")])
            _ = try registry.subscribeToAllDatasets("a", names: nil, includingFuture: true)
            try registry.recordDatasets([dataset("one"), dataset("two")])
            try expect(try registry.unsubscribe("a", fromDataset: "one"), is: true, "end")
            try expect(try found(.dataset(dataset("one")), in: registry), is: [], "left dataset")
            try registry.recordDatasets([dataset("one")])
            try expect(try found(.dataset(dataset("one")), in: registry), is: [], "left dataset, recorded again")
            let names = try registry.subscribeToAllDatasets("a", names: [], includingFuture: false)
            try expect(names, is: ["two"], "names")
            try expect(try found(.dataset(dataset("three")), in: registry), is: [], "after giving up")
            try registry.recordDatasets([dataset("three")])
            try expect(try found(.dataset(dataset("three")), in: registry), is: [], "after giving up, known")
        },
    ]

    static let topicChecks = [
        RegistryConformance("A topic belongs to an app") { registry in
            try registry.upsert([try device("a"), try device("b", app: "mail"), try device("c")])
            for name in ["a", "b", "c", "c"] { try registry.subscribe(name, toTopic: "news") }
            try expect(try found(.topic("news", app: "chat"), in: registry), is: ["a", "c"], "one app")
            try expect(try found(.topic("news", app: "mail"), in: registry), is: ["b"], "the other app")
            try expect(try found(.topic("news", app: "none"), in: registry), is: [], "unknown app")
            try expect(try found(.topic("sport", app: "chat"), in: registry), is: [], "unknown topic")
            try expect(try registry.unsubscribe("a", fromTopic: "news"), is: true, "end")
            try expect(try registry.unsubscribe("a", fromTopic: "news"), is: false, "second end")
            try expect(try registry.unsubscribe("a", fromTopic: "none"), is: false, "end for no topic")
            try expect(try registry.unsubscribe("none", fromTopic: "news"), is: false, "end for no device")
            try expect(try found(.topic("news", app: "chat"), in: registry), is: ["c"], "afterwards")
        },
        RegistryConformance("Subscribing to a topic needs a device and a name") { registry in
            try registry.upsert([try device("a", identity: nil)])
            try registry.subscribe("a", toTopic: "Nachrichten für alle")
            try expect(.notFound, "no device") { try registry.subscribe("none", toTopic: "news") }
            try expect(.invalid, "empty") { try registry.subscribe("a", toTopic: "") }
            try expect(.invalid, "long") {
                try registry.subscribe("a", toTopic: String(repeating: "x", count: 257))
            }
        },
    ]
}
