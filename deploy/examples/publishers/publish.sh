#!/bin/sh
# Publishes an event, by hand or for a trial: publish.sh AMQP-URL EVENT-FILE ROUTING-KEY
#
# amqp-publish (Debian: amqp-tools) waits for no confirm, so the event may be lost although this succeeds. Where it must
# not be: apus publish --set rabbitmq.url=AMQP-URL --file EVENT-FILE
set -eu
# To amqp-publish a final / is a virtual host without a name.
exec amqp-publish --url "${1%/}" --exchange apus.changes --routing-key "$3" --persistent \
    --content-type application/cloudevents+json <"$2"
