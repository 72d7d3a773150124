#!/bin/sh
# Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… publish.sh https://push.example.com ORDER
#
# curl tries again after 429 and 503, as Retry-After says. The token is on its standard input, where nobody sees it.
set -eu
push='{"app":"chat","userIds":["mei"],"notification":{"title":"On its way"}}'
echo "Authorization: Bearer $APUS_TOKEN" |
    curl --silent --show-error --fail-with-body --retry 20 --max-time 30 --header @- \
        --header "Content-Type: application/json" --header "Idempotency-Key: $2" --data "$push" "$1/v1/events"
