// Consumes a number of messages with rabbitmq-c and nothing else, acknowledges every hundredth with `multiple`, and
// prints one line of JSON: messages per second and CPU microseconds for each message. With a registry in SQLite it also
// looks up, with one prepared statement, the devices that subscribed to each changed dataset.
//
// usage: bare-consumer HOST PORT USER PASSWORD QUEUE COUNT PREFETCH [REGISTRY]

#define _GNU_SOURCE
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_tcp_socket.h>
#endif
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clocks.h"

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "bare-consumer: %s failed\n", what);
    exit(69);
}

static sqlite3_stmt *prepare(const char *path) {
    sqlite3 *registry;
    sqlite3_stmt *statement;
    require(sqlite3_open_v2(path, &registry, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "open the registry");
    require(sqlite3_exec(registry, "PRAGMA cache_size = -16384", NULL, NULL, NULL) == SQLITE_OK, "cache_size");
    int result = sqlite3_prepare_v2(
        registry,
        "SELECT d.token FROM identity n"
        " JOIN dataset_subscription u ON u.identity = n.id"
        " JOIN dataset_name s ON s.id = u.dataset_name"
        " JOIN device d ON d.id = u.device"
        " JOIN identity_pool p ON p.id = d.identity_pool"
        " WHERE n.name = ? AND s.name = ? AND p.name = ?",
        -1, &statement, NULL);
    require(result == SQLITE_OK, "prepare the look-up");
    return statement;
}

// Binds the value of a member, whose name is given with its quotes and colon; the values have no escapes.
static void bind(sqlite3_stmt *statement, int index, amqp_bytes_t body, const char *member) {
    const char *start = memmem(body.bytes, body.len, member, strlen(member));
    require(start != NULL, "find a member of the event");
    start += strlen(member) + 1;
    const char *end = memchr(start, '"', body.len - (size_t)(start - (const char *)body.bytes));
    require(end != NULL, "find the end of a member");
    sqlite3_bind_text(statement, index, start, (int)(end - start), SQLITE_STATIC);
}

static void look_up(sqlite3_stmt *statement, amqp_bytes_t body) {
    bind(statement, 1, body, "\"identityId\":");
    bind(statement, 2, body, "\"datasetName\":");
    bind(statement, 3, body, "\"identityPoolId\":");
    int rows = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) rows += sqlite3_column_bytes(statement, 0) > 0;
    require(rows > 0, "find a device of the event");
    sqlite3_reset(statement);
}

int main(int argc, char **argv) {
    if (argc != 8 && argc != 9) {
        fprintf(stderr, "usage: bare-consumer HOST PORT USER PASSWORD QUEUE COUNT PREFETCH [REGISTRY]\n");
        return 64;
    }
    sqlite3_stmt *statement = argc == 9 ? prepare(argv[8]) : NULL;
    long count = atol(argv[6]);
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(connection);
    require(amqp_socket_open(socket, argv[1], atoi(argv[2])) == 0, "connect");
    amqp_rpc_reply_t reply =
        amqp_login(connection, "/", 0, 131072, 20, AMQP_SASL_METHOD_PLAIN, argv[3], argv[4]);
    require(reply.reply_type == AMQP_RESPONSE_NORMAL, "login");
    amqp_channel_open(connection, 1);
    require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "channel.open");
    amqp_basic_qos(connection, 1, 0, (uint16_t)atoi(argv[7]), 0);
    require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "basic.qos");
    amqp_basic_consume(connection, 1, amqp_cstring_bytes(argv[5]), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "basic.consume");

    double start = 0, cpu = 0;
    for (long index = 0; index < count; index++) {
        amqp_envelope_t envelope;
        amqp_maybe_release_buffers(connection);
        reply = amqp_consume_message(connection, &envelope, NULL, 0);
        require(reply.reply_type == AMQP_RESPONSE_NORMAL, "consume");
        if (index == 0) {
            start = now_seconds();
            cpu = cpu_seconds();
        }
        if (statement != NULL) look_up(statement, envelope.message.body);
        if (index % 100 == 99 || index == count - 1) amqp_basic_ack(connection, 1, envelope.delivery_tag, 1);
        amqp_destroy_envelope(&envelope);
    }
    double elapsed = now_seconds() - start;
    printf(
        "{\"messagesPerSecond\":%.0f,\"cpuMicroseconds\":%.3f}\n", (double)count / elapsed,
        (cpu_seconds() - cpu) * 1e6 / (double)count);
    amqp_connection_close(connection, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection);
    return 0;
}
