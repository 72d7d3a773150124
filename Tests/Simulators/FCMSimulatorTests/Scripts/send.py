"""Sends messages with firebase-admin, unchanged but for the addresses that it talks to.

Standard input is an object: `credentials`, the file of a service account, whose `token_uri` is the simulator's; `http1`
and `http2`, the addresses of its two ports; `device`, `gone`, `other` and `busy`, registration tokens; `installation`,
an installation identifier. The simulator's certificate is trusted by the variables REQUESTS_CA_BUNDLE and
SSL_CERT_FILE, which run-firebase-admin sets.

Standard output is an object with an outcome for each message: the name that it was given, or the name of the error's
class, its code and its text.
"""

import asyncio
import datetime
import json
import sys
import warnings

import firebase_admin
from firebase_admin import credentials, exceptions, messaging


def outcome(send):
    try:
        return send()
    except exceptions.FirebaseError as error:
        return refusal(error)


def refusal(error):
    return {"class": type(error).__name__, "code": error.code, "text": str(error)}


def app(name, base, account):
    # The only change: the address stands in a constant of the class, which is read when an app sends for the first time.
    messaging._MessagingService.FCM_URL = base + "/v1/projects/{0}/messages:send"
    made = firebase_admin.initialize_app(credentials.Certificate(account), name=name)
    messaging._get_messaging_service(made)
    return made


def everything(device):
    return messaging.Message(
        token=device,
        data={"source": "cognito-sync", "syncCount": "7"},
        notification=messaging.Notification(title="Title", body="Body", image="https://example.com/image.png"),
        android=messaging.AndroidConfig(
            collapse_key="notes",
            priority="high",
            ttl=datetime.timedelta(seconds=3.5),
            restricted_package_name="com.example.chat",
            data={"more": "1"},
            direct_boot_ok=True,
            fcm_options=messaging.AndroidFCMOptions(analytics_label="label"),
            notification=messaging.AndroidNotification(
                title="Title",
                color="#00ff7f",
                priority="high",
                visibility="public",
                event_timestamp=datetime.datetime(2026, 11, 25, 10, 0, 0),
                vibrate_timings_millis=[100, 1500],
                notification_count=3,
                light_settings=messaging.LightSettings(
                    color="#ff0000", light_on_duration_millis=200, light_off_duration_millis=300
                ),
            ),
        ),
        apns=messaging.APNSConfig(
            headers={"apns-priority": "5"},
            payload=messaging.APNSPayload(
                aps=messaging.Aps(
                    alert=messaging.ApsAlert(title="Title", loc_key="KEY", loc_args=["a"]),
                    badge=1,
                    sound=messaging.CriticalSound(name="default", critical=True, volume=0.5),
                    content_available=True,
                ),
                own={"nested": [1, None, True]},
            ),
            fcm_options=messaging.APNSFCMOptions(analytics_label="label"),
        ),
        webpush=messaging.WebpushConfig(
            headers={"TTL": "60"},
            data={"web": "1"},
            notification=messaging.WebpushNotification(
                title="Title", actions=[messaging.WebpushNotificationAction("open", "Open")]
            ),
            fcm_options=messaging.WebpushFCMOptions(link="https://example.com/"),
        ),
        fcm_options=messaging.FCMOptions(analytics_label="label"),
    )


def main():
    warnings.simplefilter("ignore", DeprecationWarning)
    request = json.load(sys.stdin)
    device, account = request["device"], request["credentials"]

    def plain(token):
        return messaging.Message(token=token, data={"syncCount": "7"})

    first = app("http1", request["http1"], account)
    results = {
        "good": outcome(lambda: messaging.send(plain(device), app=first)),
        "unregistered": outcome(lambda: messaging.send(plain(request["gone"]), app=first)),
        "sender": outcome(lambda: messaging.send(plain(request["other"]), app=first)),
        "quota": outcome(lambda: messaging.send(plain(request["busy"]), app=first)),
        "everything": outcome(lambda: messaging.send(everything(device), app=first)),
        "dry_run": outcome(lambda: messaging.send(plain(device), dry_run=True, app=first)),
    }
    second = app("http2", request["http2"], account)
    messages = [
        everything(device),
        plain(request["gone"]),
        messaging.Message(fid=request["installation"], data={"a": "1"}),
        messaging.Message(topic="news", data={"a": "1"}),
        messaging.Message(condition="'a' in topics && 'b' in topics", data={"a": "1"}),
        messaging.Message(token=device, data={"from": "reserved"}),
    ]
    batch = asyncio.run(messaging.send_each_async(messages, app=second))
    results["batch"] = [
        response.message_id if response.success else refusal(response.exception) for response in batch.responses
    ]
    json.dump(results, sys.stdout)


main()
