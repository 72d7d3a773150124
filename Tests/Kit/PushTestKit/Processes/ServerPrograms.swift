import Glibc

/// The programs of the servers that tests start: the system's own, or others that a variable names.
///
/// | variable | names | otherwise |
/// |---|---|---|
/// | `APUS_RABBITMQ_PROGRAMS` | a folder with `rabbitmq-server` and `rabbitmqctl` | `/usr/lib/rabbitmq/bin` |
/// | `APUS_RABBITMQ_NEXT_PROGRAMS` | the same of a version to which nodes are upgraded | they stay as they are |
/// | `APUS_POSTGRESQL_PROGRAMS` | a folder with `initdb`, `postgres` and `psql` | the newest installed version |
/// | `APUS_PGBOUNCER` | a PgBouncer | `/usr/sbin/pgbouncer` |
///
/// `deploy/bin/fetch-brokers` makes such folders. A program `enter` there runs others with the part's own libraries.
enum ServerPrograms {
    /// The path that a variable names; nil if it is not set.
    static func path(in variable: String) -> String? { getenv(variable).map { String(cString: $0) } }

    /// The program that runs others beside a folder's programs; empty if they need none.
    static func entering(_ folder: String) -> String {
        access("\(folder)/enter", X_OK) == 0 ? "\(folder)/enter" : ""
    }
}
