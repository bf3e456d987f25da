#!/usr/bin/env python3
"""Cuts the parts that Glee uses out of the published descriptions of a host's API.

  cut.py openapi DESCRIPTION USED ORIGIN > github.json
  cut.py graphql SCHEMA USED ORIGIN > github.graphql

USED is a file. For openapi (3 or Swagger 2, as JSON) it has one operation a line, such as
`GET /repos/{owner}/{repo}/pulls/{pull_number}`; for graphql it has the names of types. Of these types, the result has
the fields whose types are named, too, or are scalars or enumerations. ORIGIN is a text that is kept in the result: the
package, its version and its licence. `graphql` needs the Python package graphql-core.

The descriptions of GitHub come from the npm packages @octokit/openapi (generated/api.github.com.json) and
@octokit/graphql-schema (schema.graphql). Those of Gitea and Forgejo are the files templates/swagger/v1_json.tmpl of their
repositories; `x-origin` names the commits.
"""
import json, pathlib, sys

# What only people read, and what describes answers.
DROPPED = {
    "description", "summary", "example", "examples", "tags", "externalDocs", "responses", "operationId", "title",
    "deprecated", "produces", "consumes", "callbacks", "security",
}
NAMED = {"properties", "definitions", "schemas", "parameters", "requestBodies", "patternProperties"}


def slim(value, are_names=False):
    """Drops the keys of DROPPED, except where keys are names that the API chose."""
    if isinstance(value, list):
        return [slim(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if are_names or not (key in DROPPED or key.startswith("x-")):
            kept[key] = slim(item, not are_names and key in NAMED)
    return kept


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def openapi(source, used, origin):
    cut = {"x-origin": origin, "paths": {}}
    cut.update({key: source[key] for key in ("openapi", "swagger") if key in source})
    for line in filter(None, map(str.strip, used.splitlines())):
        method, path = line.split()
        item = cut["paths"].setdefault(path, {})
        if "parameters" in source["paths"][path]:
            item["parameters"] = slim(source["paths"][path]["parameters"])
        item[method.lower()] = slim(source["paths"][path][method.lower()])
    waiting, known = list(references(cut)), set()
    while waiting:
        reference = waiting.pop()
        if reference in known:
            continue
        known.add(reference)
        names = [part.replace("~1", "/").replace("~0", "~") for part in reference.removeprefix("#/").split("/")]
        value, place = source, cut
        for name in names:
            value = value[name]
        value = slim(value)
        for name in names[:-1]:
            place = place.setdefault(name, {})
        place[names[-1]] = value
        waiting += references(value)
    return json.dumps(cut, indent=1, ensure_ascii=False)


def graphql(source, types, origin):
    from graphql import parse, print_ast

    known = {node.name.value: node for node in parse(source, no_location=True).definitions if hasattr(node, "name")}
    plain = {name for name, node in known.items() if node.kind in ("scalar_type_definition", "enum_type_definition")}
    builtin = {"Int", "Float", "String", "Boolean", "ID"}
    kept, small = set(types.split()), set()

    def named(kind):
        return named(kind.type) if hasattr(kind, "type") else kind.name.value

    def stays(node):
        return named(node.type) in kept | plain | builtin

    for name in sorted(kept):
        fields = {}
        for field in known[name].fields:
            args = getattr(field, "arguments", ())
            # A field without an argument that it needs would accept what GitHub refuses.
            if stays(field) and all(stays(arg) or arg.type.kind != "non_null_type" for arg in args):
                field.arguments = tuple(filter(stays, args))
                small.update(named(part.type) for part in (field, *field.arguments))
                fields[field.name.value] = field
        known[name].fields = tuple(fields.values())
        known[name].interfaces = tuple(i for i in getattr(known[name], "interfaces", ()) if i.name.value in kept)
    parts = []
    for name in sorted(kept | small & plain):
        for part in [known[name], *getattr(known[name], "fields", ()), *getattr(known[name], "values", ())]:
            for inner in (part, *getattr(part, "arguments", ())):
                inner.description, inner.directives = None, ()
        parts.append(print_ast(known[name]))
    return f"# {origin}\n\n" + "\n\n".join(parts)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    kind, source, used, origin = sys.argv[1:]
    source, used = (pathlib.Path(path).read_text(encoding="utf-8") for path in (source, used))
    print(openapi(json.loads(source), used, origin) if kind == "openapi" else graphql(source, used, origin))


if __name__ == "__main__":
    main()
