# Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… publish.py https://push.example.com ORDER
import json, os, sys, time, urllib.error, urllib.request

url, order = sys.argv[1:]
push = {"app": "chat", "userIds": ["mei"], "notification": {"title": "On its way"}}
headers = {"Authorization": "Bearer " + os.environ["APUS_TOKEN"], "Content-Type": "application/json"}
request = urllib.request.Request(url + "/v1/events", json.dumps(push).encode(), headers | {"Idempotency-Key": order})
for _ in range(20):  # the same key each time, because RabbitMQ may have the event already
    try:
        sys.exit(urllib.request.urlopen(request, timeout=30).status != 202)
    except urllib.error.HTTPError as error:
        if error.code not in (429, 503):
            sys.exit(error.read().decode())
        time.sleep(int(error.headers["Retry-After"]))
sys.exit("no event is taken")
