import PostgreSQL
import RegistryCore
import RegistrySQL

/// The statements that `resolve` asks, one for each kind of audience.
///
/// The probes are arrays (`unnest`), each joined to its devices by an index whose entries are in the order of the
/// device's row (`LATERAL`). So a page ends and goes on anywhere without counting. Each statement sees one state of the
/// registry; that matters for datasets, which are either known, or reach the devices that wait for datasets to come.
enum AudienceCalls {
    private static let columns = "d.id, \(Recipient.readColumns)"

    /// The columns that are read of each device, in the order of `columns`: only its row, if devices are counted.
    private static func columns(isCounting: Bool) -> String { isCounting ? "d.id, NULL, NULL, NULL" : columns }

    /// Devices that subscribed to datasets: pool, identity, dataset, row to go on after, device to leave out,
    /// fan-out that memberships have to be older than; then also the number of the dataset's name, or the one that
    /// stands for datasets to come.
    static func datasetSubscribers(_ parameters: [Parameter], isCounting: Bool) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns(isCounting: isCounting)), a.name, s.number
            FROM unnest($1::bigint[], $2::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
                $9::bigint[]) WITH ORDINALITY r(request, element, pool, identity, dataset, after, excluded, as_of, k)
            JOIN apus.identity_pool p ON p.name = r.pool
            JOIN apus.identity n ON n.name = r.identity
            CROSS JOIN LATERAL (SELECT \(heldDataset) AS number) s
            CROSS JOIN LATERAL (
                SELECT d.* FROM apus.dataset_subscription u
                JOIN apus.device d ON d.id = u.device AND d.identity_pool = p.id
                WHERE u.identity = n.id AND u.dataset_name = s.number AND u.device > r.after AND u.joined < r.as_of
                    AND d.device_id IS DISTINCT FROM r.excluded
                ORDER BY u.device LIMIT $3::bigint) d
            JOIN apus.app a ON a.id = d.app
            ORDER BY r.k, d.id
            """, parameters)
    }

    /// The number of a dataset's name if the dataset is known, and else the number that stands for datasets to come.
    private static let heldDataset = """
        coalesce((
            SELECT k.dataset_name FROM apus.dataset_name x JOIN apus.dataset k
                ON k.identity = n.id AND k.identity_pool = p.id AND k.dataset_name = x.id
            WHERE x.name = r.dataset), \(Schema.futureDatasets))
        """

    /// Devices that subscribed to topics: topic, app, row to go on after, device to leave out,
    /// fan-out that memberships have to be older than.
    static func topicSubscribers(_ parameters: [Parameter], isCounting: Bool) -> Call {
        devices(
            """
            JOIN apus.topic t ON t.name = r.name AND t.app = a.id
            CROSS JOIN LATERAL (
                SELECT d.* FROM apus.topic_subscription u JOIN apus.device d ON d.id = u.device
                WHERE u.topic = t.id AND u.device > r.after AND u.joined < r.as_of
                    AND d.device_id IS DISTINCT FROM r.excluded
                ORDER BY u.device LIMIT $3::bigint) d
            """, parameters, isCounting: isCounting)
    }

    /// Devices of identities: identity, app, row to go on after, device to leave out,
    /// fan-out that memberships have to be older than.
    static func identityDevices(_ parameters: [Parameter], isCounting: Bool) -> Call {
        devices(
            """
            JOIN apus.identity n ON n.name = r.name
            CROSS JOIN LATERAL (
                SELECT d.* FROM apus.device d
                WHERE d.identity = n.id AND d.app = a.id AND d.id > r.after AND d.joined < r.as_of
                    AND d.device_id IS DISTINCT FROM r.excluded
                ORDER BY d.id LIMIT $3::bigint) d
            """, parameters, isCounting: isCounting)
    }

    /// Devices of users: user, app, row to go on after, device to leave out,
    /// fan-out that memberships have to be older than.
    static func userDevices(_ parameters: [Parameter], isCounting: Bool) -> Call {
        devices(
            """
            CROSS JOIN LATERAL (
                SELECT d.* FROM apus.device d
                WHERE d.user_id = r.name AND d.app = a.id AND d.id > r.after AND d.joined < r.as_of
                    AND d.device_id IS DISTINCT FROM r.excluded
                ORDER BY d.id LIMIT $3::bigint) d
            """, parameters, isCounting: isCounting)
    }

    private static func devices(_ joins: String, _ parameters: [Parameter], isCounting: Bool) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns(isCounting: isCounting)), r.app
            FROM unnest($1::bigint[], $2::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[])
                WITH ORDINALITY r(request, element, name, app, after, excluded, as_of, k)
            JOIN apus.app a ON a.name = r.app
            \(joins)
            ORDER BY r.k, d.id
            """, parameters)
    }

    /// Devices by their identifiers: identifier, app; then also the name of the identity, and the user.
    static func namedDevices(_ parameters: [Parameter]) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns), r.app, n.name, d.user_id
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
                WITH ORDINALITY r(request, element, name, app, k)
            JOIN apus.device d ON d.device_id = r.name
            JOIN apus.app a ON a.id = d.app AND a.name = r.app
            LEFT JOIN apus.identity n ON n.id = d.identity
            ORDER BY r.k
            """, parameters)
    }

    /// Devices by their tokens: token, app.
    static func tokenDevices(_ parameters: [Parameter]) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns), r.app
            FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::text[])
                WITH ORDINALITY r(request, element, token, app, k)
            JOIN apus.app a ON a.name = r.app
            JOIN apus.device d ON d.token = r.token AND d.app = a.id
            ORDER BY r.k
            """, parameters)
    }

    /// The named devices that are subscribed to a dataset: identifier, pool, identity, dataset.
    static func namedDatasetSubscribers(_ parameters: [Parameter]) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns), a.name
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
                WITH ORDINALITY r(request, element, name, pool, identity, dataset, k)
            JOIN apus.identity_pool p ON p.name = r.pool
            JOIN apus.identity n ON n.name = r.identity
            JOIN apus.device d ON d.device_id = r.name AND d.identity = n.id AND d.identity_pool = p.id
            JOIN apus.dataset_subscription u
                ON u.identity = n.id AND u.device = d.id AND u.dataset_name = \(heldDataset)
            JOIN apus.app a ON a.id = d.app
            ORDER BY r.k
            """, parameters)
    }

    /// The named devices that are subscribed to a topic: identifier, app, topic.
    static func namedTopicSubscribers(_ parameters: [Parameter]) -> Call {
        Call(
            """
            SELECT r.request, r.element, \(columns), r.app
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
                WITH ORDINALITY r(request, element, name, app, topic, k)
            JOIN apus.app a ON a.name = r.app
            JOIN apus.device d ON d.device_id = r.name AND d.app = a.id
            JOIN apus.topic t ON t.name = r.topic AND t.app = a.id
            JOIN apus.topic_subscription u ON u.topic = t.id AND u.device = d.id
            ORDER BY r.k
            """, parameters)
    }
}
