"""Makes a CloudEvent and publishes it, and ends when RabbitMQ has it: publish_cloudevents.py AMQP-URL"""
import sys
import time

import pika  # Debian: python3-pika, or PyPI
from cloudevents.core.bindings import rabbitmq  # PyPI: cloudevents, 2.2 or newer
from cloudevents.core.v1.event import CloudEvent

event = CloudEvent(
    {"type": "com.example.push.requested", "source": "https://chat.example.com/backend"},
    {"app": "chat", "userIds": ["user-1729"], "notification": {"title": "Mei Chen", "body": "Are you there?"}},
)
# The attributes become headers, ce-type and so on, and the body is the data.
message = rabbitmq.to_binary_event(event)
properties = pika.BasicProperties(
    content_type="application/json", headers=message.headers, message_id=event.get_id(), delivery_mode=2
)
connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()  # from now on basic_publish waits for the confirm
for attempt in range(6):
    try:
        channel.basic_publish("apus.changes", "push.requested.user-1729", message.body, properties, mandatory=True)
        break
    except pika.exceptions.NackError:
        # RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
        time.sleep(2 ** attempt / 4)
else:
    sys.exit("RabbitMQ refuses the event")
connection.close()
