"""Reads a report of Glee in OTLP's JSON form with OpenTelemetry's own messages, and prints it as JSON with plain values.

Arguments: `TracesData` or `MetricsData`. An unknown field is an error."""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_base64(value):
    """OTLP writes ids in hexadecimal digits, where the JSON of protobuf has base64."""
    if isinstance(value, list):
        return [with_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, inner in value.items():
        if key in IDS:
            raw = bytes.fromhex(inner)
            assert len(raw) == IDS[key], (key, inner)
            inner = base64.b64encode(raw).decode()
        changed[key] = with_base64(inner)
    return changed


text = sys.stdin.read()
assert text.count("\n") == 1 and text.endswith("\n"), "one line"
message = {"TracesData": TracesData, "MetricsData": MetricsData}[sys.argv[1]]()
json_format.ParseDict(with_base64(json.loads(text)), message)


def plain(attributes):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


if sys.argv[1] == "TracesData":
    read = [
        {
            "name": span.name,
            "kind": span.kind,
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "seconds": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            "status": span.status.code,
            "attributes": plain(span.attributes),
        }
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
else:
    read = [
        {
            "name": metric.name,
            "unit": metric.unit,
            "count": point.count,
            "sum": point.sum,
            "buckets": sum(point.bucket_counts),
            "bounds": len(point.explicit_bounds) + 1 - len(point.bucket_counts),
            "attributes": plain(point.attributes),
        }
        for resource in message.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.histogram.data_points
    ]
print(json.dumps(read))
