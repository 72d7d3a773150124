import Notifications
import PostgreSQL
import RegistryCore
import RegistrySQL

/// The statements about tokens that devices have beside their alert tokens.
enum TokenCalls {
    /// The tokens of devices: index in the list from 1, then the token's columns.
    static func tokens(of deviceIDs: [String]) -> Call {
        Call(
            """
            SELECT r.k, \(FurtherToken.readColumns) FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            JOIN apus.device d ON d.device_id = r.name JOIN apus.device_token t ON t.device = d.id ORDER BY r.k, t.kind
            """, [.texts(deviceIDs)])
    }

    /// The registrations of tokens: index in the list from 1, kind, platform.
    static func kinds(of tokens: [DeviceToken], app: String) -> Call {
        Call(
            """
            SELECT r.k, x.kind, x.platform FROM unnest($1::bytea[]) WITH ORDINALITY r(token, k)
            JOIN apus.app a ON a.name = $2::text
            CROSS JOIN LATERAL (
                SELECT '\(TokenKind.alert.rawValue)'::text AS kind, d.platform FROM apus.device d
                WHERE d.token = r.token AND d.app = a.id
                UNION ALL
                SELECT t.kind, d.platform FROM apus.device_token t JOIN apus.device d ON d.id = t.device
                WHERE t.token = r.token AND t.app = a.id) x
            """, [.byteLists(tokens.map { AddressKey(ofUnknownPlatform: $0).bytes }), .text(app)])
    }
}
