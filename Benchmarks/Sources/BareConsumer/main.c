// Consumes a number of messages with rabbitmq-c and nothing else, acknowledges every hundredth with `multiple`, and
// prints one line of JSON: messages per second and CPU microseconds for each message.
//
// usage: bare-consumer HOST PORT USER PASSWORD QUEUE COUNT PREFETCH

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "bare-consumer: %s failed\n", what);
    exit(69);
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: bare-consumer HOST PORT USER PASSWORD QUEUE COUNT PREFETCH\n");
        return 64;
    }
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
