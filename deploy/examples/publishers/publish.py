"""Publishes an event, and ends when RabbitMQ has it: publish.py AMQP-URL EVENT-FILE ROUTING-KEY"""
import sys
import time

import pika  # Debian: python3-pika

url, path, routing_key = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
channel.confirm_delivery()  # from now on basic_publish waits for the confirm
properties = pika.BasicProperties(content_type="application/cloudevents+json", delivery_mode=2)
with open(path, "rb") as file:
    event = file.read()
for attempt in range(6):
    try:
        channel.basic_publish("apus.changes", routing_key, event, properties, mandatory=True)
        break
    except pika.exceptions.NackError:
        # RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
        time.sleep(2 ** attempt / 4)
else:
    sys.exit("RabbitMQ refuses the event")
connection.close()
