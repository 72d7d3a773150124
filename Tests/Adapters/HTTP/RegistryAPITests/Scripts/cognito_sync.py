"""Drives the registry's API with boto3's own client of Amazon Cognito Sync.

usage: cognito_sync.py ENDPOINT SCENARIO [ARGUMENT...]; prints what the scenario says, fails with a traceback.
"""

import datetime
import json
import sys
import time
import types

import boto3
import botocore.auth
import botocore.config
import botocore.exceptions

POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
OTHER_POOL = "us-east-1:00000000-2c08-43f0-9983-28727e0a1b2c"
IDENTITY = "us-east-1:be6f7d55-5c32-4be4-a2fa-ff0a4a0f1a7e"
OTHER_IDENTITY = "us-east-1:00000000-5c32-4be4-a2fa-ff0a4a0f1a7e"
TOKEN = "ab" * 32
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
LIMITED_KEY = "AKIDLIMITED"

endpoint = sys.argv[1]


def client(key=KEY, secret=SECRET, session_token=None, region="us-east-1", **options):
    config = botocore.config.Config(retries={"max_attempts": 0}, parameter_validation=False, **options)
    return boto3.client(
        "cognito-sync", endpoint_url=endpoint, region_name=region, aws_access_key_id=key,
        aws_secret_access_key=secret, aws_session_token=session_token, config=config)


def register(sync, pool=POOL, identity=IDENTITY, platform="APNS", token=TOKEN):
    return sync.register_device(IdentityPoolId=pool, IdentityId=identity, Platform=platform, Token=token)["DeviceId"]


def subscription(device, dataset="notes", pool=POOL, identity=IDENTITY):
    return {"IdentityPoolId": pool, "IdentityId": identity, "DatasetName": dataset, "DeviceId": device}


def refused(status, code, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except botocore.exceptions.ClientError as error:
        seen = (error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"])
        assert seen == (status, code), (seen, error.response["Error"]["Message"])
        return error.response
    raise AssertionError(f"{code} was expected")


def flow():
    sync = client()
    device = register(sync)
    assert register(sync) == device
    assert register(sync, token=TOKEN.upper()) == device
    assert register(sync, platform="APNS_SANDBOX") == device
    other = register(sync, token="cd" * 40)
    assert other != device
    answer = sync.subscribe_to_dataset(**subscription(device))
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 200 and answer["ResponseMetadata"]["RequestId"]
    sync.subscribe_to_dataset(**subscription(device))
    sync.subscribe_to_dataset(**subscription(device, "a.b:c_d-E"))
    sync.unsubscribe_from_dataset(**subscription(device, "a.b:c_d-E"))
    sync.unsubscribe_from_dataset(**subscription(device, "a.b:c_d-E"))
    google = register(sync, platform="GCM", token="eXampl3:APA91b_google-token")
    assert register(sync, platform="GCM", token="eXampl3:APA91b_google-token") == google
    # The same text at another service is another device.
    amazon = register(sync, platform="ADM", token="eXampl3:APA91b_google-token")
    assert register(sync, platform="ADM", token="eXampl3:APA91b_google-token") == amazon != google
    long = register(sync, platform="ADM", token="amzn1.adm-registration.v3." + "x" * 1000)
    print(json.dumps([device, other, google, amazon, long]))


def pool_configuration():
    sync = client()
    empty = sync.get_identity_pool_configuration(IdentityPoolId=POOL)
    assert empty["IdentityPoolId"] == POOL and "PushSync" not in empty
    push = {
        "ApplicationArns": ["arn:aws:sns:us-east-1:123456789012:app/APNS/chat"],
        "RoleArn": "arn:aws:iam::123456789012:role/push",
    }
    assert sync.set_identity_pool_configuration(IdentityPoolId=POOL, PushSync=push)["PushSync"] == push
    assert sync.get_identity_pool_configuration(IdentityPoolId=POOL)["PushSync"] == push
    def set_push(**changes):
        return sync.set_identity_pool_configuration(IdentityPoolId=POOL, PushSync={**push, **changes})
    for arns in (["x"], ["arn:aws:sns:us-east-1:12:app/apns/chat"], ["arn:aws:sns::12:app/APNS/chat"]):
        refused(400, "InvalidParameterException", set_push, ApplicationArns=arns)
    for role in ("x", "arn:aws:iam::x:role/push-sync", "arn:aws:iam::123456789012:user/push"):
        refused(400, "InvalidParameterException", set_push, RoleArn=role)
    refused(
        400, "InvalidParameterException", sync.set_identity_pool_configuration, IdentityPoolId=POOL,
        CognitoStreams={"StreamName": "s", "RoleArn": push["RoleArn"], "StreamingStatus": "ENABLED"})
    assert sync.get_identity_pool_configuration(IdentityPoolId=POOL)["PushSync"] == push


def credentials():
    refused(403, "InvalidSignatureException", register, client(secret="wrong" * 8))
    refused(403, "UnrecognizedClientException", register, client(key="AKIDNOBODY"))
    refused(403, "NotAuthorizedException", register, client(key=LIMITED_KEY), pool=POOL)
    unsigned = client(signature_version=botocore.UNSIGNED)
    refused(403, "MissingAuthenticationTokenException", register, unsigned)
    assert register(client(session_token="anything+/=", region="eu-west-1"))


def skewed_clock():
    real = datetime.datetime
    for minutes, accepted in ((-4, True), (4, True), (-6, False), (6, False), (-10_000_000, False)):
        class Skewed(real):
            @classmethod
            def utcnow(cls):
                return real.utcnow() + datetime.timedelta(minutes=minutes)

            @classmethod
            def now(cls, tz=None):
                return real.now(tz) + datetime.timedelta(minutes=minutes)

        if hasattr(botocore.auth, "get_current_datetime"):
            botocore.auth.get_current_datetime = lambda *_: Skewed.utcnow()
        else:
            botocore.auth.datetime = types.SimpleNamespace(datetime=Skewed)
        if accepted:
            assert register(client())
        else:
            response = refused(403, "InvalidSignatureException", register, client())
            assert "Signature" in response["Error"]["Message"]


def tampered():
    def tamper(change):
        sync = client()
        def before_send(request, **_):
            change(request)
        sync.meta.events.register("before-send.cognito-sync.*", before_send)
        return sync

    def body(request):
        request.body = request.body.replace(b"abab", b"cdcd", 1)

    def path(request):
        request.url = request.url.replace("be6f7d55", "be6f7d56")

    def query(request):
        request.url += "?a=b"

    def date(request):
        text = request.headers["X-Amz-Date"].decode()
        request.headers["X-Amz-Date"] = text[:-2] + str((int(text[-2]) + 1) % 10) + "Z"

    def added_field(request):
        request.headers["X-Amz-Security-Token"] = "more"

    def method(request):
        request.method = "PUT"

    for change in (body, path, query, date, added_field):
        refused(403, "InvalidSignatureException", register, tamper(change))
    refused(403, "InvalidSignatureException", register, tamper(method))

    def without_signature(request):
        text = request.headers["Authorization"].decode()
        request.headers["Authorization"] = text[: text.index(", Signature")]

    def other_algorithm(request):
        request.headers["Authorization"] = b"AWS4-HMAC-SHA512" + request.headers["Authorization"][16:]

    def unsorted(request):
        text = request.headers["Authorization"].decode()
        start, end = text.index("SignedHeaders=") + 14, text.index(", Signature")
        names = ";".join(reversed(text[start:end].split(";")))
        request.headers["Authorization"] = text[:start] + names + text[end:]

    for change in (without_signature, other_algorithm, unsorted):
        refused(400, "IncompleteSignatureException", register, tamper(change))


def bad_parameters():
    sync = client()
    invalid, missing = (400, "InvalidParameterException"), (404, "ResourceNotFoundException")
    for token in ("", "abc", "xy", "ab" * 300, "ab cd"):
        refused(*invalid, register, sync, token=token)
    for platform in ("apns", "", "WNS", "WEB", "WEB_PUSH"):
        refused(*invalid, register, sync, platform=platform)
    for platform in ("GCM", "ADM"):
        refused(*invalid, register, sync, platform=platform, token="a b")
        refused(*invalid, register, sync, platform=platform, token="a" * 2049)
    for identity in ("x", "us-east-1:XYZ", "us-east-1:" + "0" * 50, ":00", "a b:00"):
        refused(*invalid, register, sync, identity=identity)
    refused(*invalid, register, sync, pool="nonsense")
    refused(*missing, register, sync, pool=OTHER_POOL)
    device = register(sync)
    for dataset in ("a b", "a/b", "x" * 129, "ä"):
        refused(*invalid, sync.subscribe_to_dataset, **subscription(device, dataset))
    refused(*invalid, sync.subscribe_to_dataset, **subscription("d" * 257))
    for operation in (sync.subscribe_to_dataset, sync.unsubscribe_from_dataset):
        refused(*missing, operation, **subscription("no-such-device"))
        refused(*missing, operation, **subscription(device, identity=OTHER_IDENTITY))
        refused(*missing, operation, **subscription(device, pool=OTHER_POOL))
    refused(413, "RequestEntityTooLargeException", register, sync, token="a" * 1_100_000)


def dataset_operations():
    dataset = {"IdentityPoolId": POOL, "IdentityId": IDENTITY, "DatasetName": "notes"}
    identity = {"IdentityPoolId": POOL, "IdentityId": IDENTITY}
    pool = {"IdentityPoolId": POOL}
    operations = {
        "BulkPublish": pool, "DeleteDataset": dataset, "DescribeDataset": dataset, "DescribeIdentityPoolUsage": pool,
        "DescribeIdentityUsage": identity, "GetBulkPublishDetails": pool, "GetCognitoEvents": pool,
        "ListDatasets": identity, "ListIdentityPoolUsage": {}, "ListRecords": dataset,
        "SetCognitoEvents": {**pool, "Events": {"SyncTrigger": "arn:aws:lambda:us-east-1:12:function:f"}},
        "UpdateRecords": {**dataset, "SyncSessionToken": "s"},
    }
    sync, wrong = client(), client(secret="wrong" * 8)
    served = {"RegisterDevice", "SubscribeToDataset", "UnsubscribeFromDataset", "GetIdentityPoolConfiguration",
              "SetIdentityPoolConfiguration"}
    assert set(operations) | served == set(sync.meta.service_model.operation_names)
    for name, parameters in operations.items():
        method = botocore.xform_name(name)
        refused(403, "InvalidSignatureException", getattr(wrong, method), **parameters)
        try:
            getattr(sync, method)(**parameters)
        except botocore.exceptions.ClientError as error:
            code = error.response["Error"]["Code"]
            assert code in [shape.name for shape in sync.meta.service_model.operation_model(name).error_shapes], code
            assert type(error) is sync.exceptions.from_code(code) is not botocore.exceptions.ClientError, error
            assert "keeps no datasets" in error.response["Error"]["Message"], error
        else:
            raise AssertionError(f"{name} was answered")
        if "IdentityPoolId" in parameters:
            elsewhere = {**parameters, "IdentityPoolId": OTHER_POOL}
            refused(404, "ResourceNotFoundException", getattr(sync, method), **elsewhere)


def unknown_paths():
    def elsewhere(change, **options):
        sync = client(**options)
        def before_sign(request, **_):
            request.url = request.url.replace("/device", change)
        sync.meta.events.register("before-sign.cognito-sync.*", before_sign)
        return sync

    for change in ("/nothing", "/device/more", ""):
        refused(404, "UnknownOperationException", register, elsewhere(change))
        refused(403, "InvalidSignatureException", register, elsewhere(change, secret="wrong" * 8))
        refused(403, "MissingAuthenticationTokenException", register, elsewhere(
            change, signature_version=botocore.UNSIGNED))


def dotted_datasets():
    sync = client()
    device = register(sync)
    for dataset in (".", "..", "..."):
        sync.subscribe_to_dataset(**subscription(device, dataset))
    sync.subscribe_to_dataset(**subscription(device, "notes"))
    sync.unsubscribe_from_dataset(**subscription(device, "..."))
    for dots in (".", ".."):
        refused(400, "InvalidParameterException", sync.subscribe_to_dataset, **subscription(dots))
    # A browser would send it so.
    shortened = client()
    def before_send(request, **_):
        request.url = request.url.replace("/./", "/").replace("/datasets/../", "/")
    shortened.meta.events.register("before-send.cognito-sync.*", before_send)
    for dataset in (".", ".."):
        refused(404, "UnknownOperationException", shortened.subscribe_to_dataset, **subscription(device, dataset))
    print(device)


def limits():
    sync = client()
    seen = None
    for _ in range(200):
        try:
            sync.get_identity_pool_configuration(IdentityPoolId=POOL)
        except botocore.exceptions.ClientError as error:
            seen = error.response
            break
    assert seen["Error"]["Code"] == "TooManyRequestsException", seen
    assert int(seen["ResponseMetadata"]["HTTPHeaders"]["retry-after"]) >= 1
    assert client(key=LIMITED_KEY).get_identity_pool_configuration(IdentityPoolId=OTHER_POOL)


def quotas():
    sync = client()
    device = register(sync)
    sync.subscribe_to_dataset(**subscription(device))
    sync.subscribe_to_dataset(**subscription(device))
    code = "LimitExceededException"
    refused(400, code, sync.subscribe_to_dataset, **subscription(device, "other"))
    refused(400, code, register, sync, token="cd" * 32)
    assert register(sync) == device
    try:
        register(sync, token="cd" * 32)
    except sync.exceptions.LimitExceededException:
        return
    raise AssertionError("the client does not know the error")


def guesses():
    wrong = client(secret="wrong" * 8)
    began = time.monotonic()
    codes = [refused_code(wrong) for _ in range(300)]
    seconds = time.monotonic() - began
    assert set(codes) == {"InvalidSignatureException", "TooManyRequestsException"}, codes
    # Thirty at once, and one more each second.
    assert set(codes[:30]) == {"InvalidSignatureException"}, codes
    assert 30 <= codes.count("InvalidSignatureException") <= 31 + seconds, codes
    assert register(client())


def refused_code(sync):
    try:
        sync.get_identity_pool_configuration(IdentityPoolId=POOL)
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return "accepted"


def lookalikes():
    sync = client()
    sync.subscribe_to_dataset(**subscription("\u00e9", "first"))
    sync.subscribe_to_dataset(**subscription("e\u0301", "second"))
    sync.unsubscribe_from_dataset(**subscription("e\u0301", "first"))
    for control in ["a\u0001", "\u007f", "\u0085"]:
        refused(400, "InvalidParameterException", sync.subscribe_to_dataset, **subscription(control))


def register_and_subscribe(token, identity, dataset):
    sync = client()
    device = register(sync, identity=identity, token=token)
    sync.subscribe_to_dataset(**subscription(device, dataset, identity=identity))
    print(device)


globals()[sys.argv[2]](*sys.argv[3:])
