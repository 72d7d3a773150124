import Glibc

extension PrivatePostgreSQL {
    /// Makes the server's data, then runs commands from its standard input, and cleans up when that ends.
    ///
    /// `exec` makes the server replace its shell, so a signal to the process identifier reaches it directly. An
    /// immediate shutdown (SIGQUIT) gives the system's shared memory back, which SIGKILL does not.
    static let supervisorScript = """
        unprivileged() {
            if [ "$(id -u)" = 0 ]; then
                exec ${APUS_ENTER:+"$APUS_ENTER"} setpriv --reuid postgres --regid postgres --init-groups -- "$@"
            else
                exec "$@"
            fi
        }
        cd "$APUS_FOLDER" || exit 1
        setup() {
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out certificate.pem || return
            printf '%s' "$APUS_PASSWORD" >password
            [ "$(id -u)" != 0 ] || chown -R postgres: .
            if [ -n "$APUS_PRIMARY_PORT" ]; then
                (PGPASSWORD=$APUS_PASSWORD unprivileged pg_basebackup --pgdata=data --host=127.0.0.1 \
                    --port="$APUS_PRIMARY_PORT" --username=apus --write-recovery-conf --checkpoint=fast --no-sync) ||
                    return
            else
                (unprivileged initdb --pgdata=data --username=apus --pwfile=password --auth=trust --encoding=UTF8 \
                    --locale=C --no-sync) || return
            fi
            cat >>data/postgresql.conf <<END
        listen_addresses = '127.0.0.1'
        port = $APUS_PORT
        unix_socket_directories = '$APUS_FOLDER'
        max_connections = 200
        shared_buffers = 32MB
        fsync = off
        ssl = on
        ssl_cert_file = '$APUS_FOLDER/certificate.pem'
        ssl_key_file = '$APUS_FOLDER/key.pem'
        END
            cat >data/pg_hba.conf <<END
        local all all trust
        hostnossl all secure 127.0.0.1/32 reject
        host all all 127.0.0.1/32 scram-sha-256
        host replication all 127.0.0.1/32 scram-sha-256
        END
            [ -z "$APUS_PRIMARY_PORT" ] || return 0
            echo "CREATE ROLE secure SUPERUSER LOGIN PASSWORD '$APUS_PASSWORD'" |
                (unprivileged postgres --single -D data postgres)
        }
        server=
        finish() {
            [ -z "$server" ] || {
                kill -CONT $(cat "/proc/$server/task/$server/children") "$server"
                kill "-$1" "$server"; wait "$server"; server=
            } 2>/dev/null
        }
        setup >setup.out 2>&1 && ready=yes
        while read -r command; do
            case "$command" in
            start)
                [ "$ready" = yes ] || { echo failed; continue; }
                [ -z "$server" ] || wait "$server"
                unprivileged postgres -D data </dev/null >server.out 2>&1 &
                server=$!
                echo "$server" ;;
            kill)
                # Connections of a server whose first process is gone may live on for a moment, and answer.
                children=$(cat "/proc/$server/task/$server/children")
                finish KILL
                kill -9 $children 2>/dev/null
                echo killed ;;
            pause)
                # Its processes stop, and so do those that are made meanwhile; the first goes first, lest it makes more.
                kill -STOP "$server"
                kill -STOP $(cat "/proc/$server/task/$server/children")
                echo paused ;;
            resume)
                kill -CONT $(cat "/proc/$server/task/$server/children") "$server"
                echo resumed ;;
            esac
        done
        finish QUIT
        cd /
        rm -rf "$APUS_FOLDER"
        """

    /// The folder with the server's programs: the one that is named, or that of the newest version that is installed.
    static func findPrograms() throws(PrivateServerFailure) -> String {
        if let named = ServerPrograms.path(in: "APUS_POSTGRESQL_PROGRAMS") { return named }
        for version in stride(from: 30, through: 13, by: -1) {
            let folder = "/usr/lib/postgresql/\(version)/bin"
            if access("\(folder)/initdb", X_OK) == 0 { return folder }
        }
        throw PrivateServerFailure("PostgreSQL is not installed; install it with: apt-get install postgresql")
    }
}
