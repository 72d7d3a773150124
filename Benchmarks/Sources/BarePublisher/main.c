// Publishes one message a number of times with rabbitmq-c and nothing else, persistent and mandatory, with so many
// unconfirmed at most, waits for all confirms, and prints one line of JSON: messages per second and CPU microseconds for
// each message.
//
// usage: bare-publisher HOST PORT USER PASSWORD EXCHANGE ROUTING_KEY COUNT WINDOW FILE

#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../BareConsumer/clocks.h"

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "bare-publisher: %s failed\n", what);
    exit(69);
}

static amqp_bytes_t read_body(const char *path) {
    static char body[65536];
    FILE *file = fopen(path, "rb");
    require(file != NULL, "open the body");
    amqp_bytes_t bytes = {fread(body, 1, sizeof body, file), body};
    fclose(file);
    return bytes;
}

// Waits for a confirm, and counts the messages that it is about. A quorum queue may confirm out of order.
static uint64_t confirm(amqp_connection_state_t connection, char *is_open, uint64_t *lowest) {
    amqp_frame_t frame;
    amqp_maybe_release_buffers(connection);
    require(amqp_simple_wait_frame(connection, &frame) == AMQP_STATUS_OK, "wait for a confirm");
    require(
        frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_BASIC_ACK_METHOD,
        "a confirm of each message");
    amqp_basic_ack_t *ack = frame.payload.method.decoded;
    uint64_t count = 0;
    for (uint64_t tag = ack->multiple ? *lowest : ack->delivery_tag; tag <= ack->delivery_tag; tag++) {
        count += (uint64_t)is_open[tag];
        is_open[tag] = 0;
    }
    if (ack->multiple && ack->delivery_tag >= *lowest) *lowest = ack->delivery_tag + 1;
    return count;
}

int main(int argc, char **argv) {
    if (argc != 10) {
        fprintf(
            stderr, "usage: bare-publisher HOST PORT USER PASSWORD EXCHANGE ROUTING_KEY COUNT WINDOW FILE\n");
        return 64;
    }
    uint64_t count = strtoull(argv[7], NULL, 10), window = strtoull(argv[8], NULL, 10);
    amqp_bytes_t body = read_body(argv[9]);
    char *is_open = calloc(count + 1, 1);
    require(is_open != NULL && window > 0, "memory");
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(connection);
    require(amqp_socket_open(socket, argv[1], atoi(argv[2])) == 0, "connect");
    amqp_rpc_reply_t reply = amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, argv[3], argv[4]);
    require(reply.reply_type == AMQP_RESPONSE_NORMAL, "login");
    amqp_channel_open(connection, 1);
    require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "channel.open");
    amqp_confirm_select(connection, 1);
    require(amqp_get_rpc_reply(connection).reply_type == AMQP_RESPONSE_NORMAL, "confirm.select");

    amqp_basic_properties_t properties = {0};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG;
    properties.delivery_mode = 2;
    properties.content_type = amqp_cstring_bytes("application/cloudevents+json");
    double start = now_seconds(), cpu = cpu_seconds();
    uint64_t confirmed = 0, lowest = 1;
    for (uint64_t tag = 1; tag <= count; tag++) {
        while (tag - 1 - confirmed >= window) confirmed += confirm(connection, is_open, &lowest);
        is_open[tag] = 1;
        int status = amqp_basic_publish(
            connection, 1, amqp_cstring_bytes(argv[5]), amqp_cstring_bytes(argv[6]), 1, 0, &properties, body);
        require(status == AMQP_STATUS_OK, "publish");
    }
    while (confirmed < count) confirmed += confirm(connection, is_open, &lowest);
    double elapsed = now_seconds() - start;
    printf(
        "{\"messagesPerSecond\":%.0f,\"cpuMicroseconds\":%.3f}\n", (double)count / elapsed,
        (cpu_seconds() - cpu) * 1e6 / (double)count);
    amqp_connection_close(connection, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection);
    free(is_open);
    return 0;
}
